import { EntiaError } from '../base/entia-error.ts'

export function misuse(message: string): EntiaError {
  return new EntiaError('invalid-argument', message)
}

export function describeValue(value: unknown, depth = 1): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (value instanceof Promise) return 'a promise'
  const parts = Array.isArray(value) ? value : Object.entries(value)
  const isShown = depth > 0 && parts.length > 0
  if (Array.isArray(value)) return isShown ? `[${listed(value, (part) => describeValue(part, 0))}]` : 'a list'
  if (!isShown) return 'an object'
  return `{ ${listed(Object.entries(value), ([key, part]) => `${key}: ${describeValue(part, 0)}`)} }`
}

const maxParts = 5

function listed<T>(parts: readonly T[], said: (part: T) => string): string {
  const rest = parts.length > maxParts ? ['…'] : []
  return [...parts.slice(0, maxParts).map(said), ...rest].join(', ')
}
