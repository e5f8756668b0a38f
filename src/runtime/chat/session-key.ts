import { World } from '../../world/world.ts'

const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
const randomChars = 4

/**
 * A name for a new chat session: the time it was made, in UTC, and a few random letters. Later ones sort behind earlier ones.
 *
 * @param dateMs Unix time
 * @param random gives numbers from 0 up to, not including, 1
 */
export function sessionKey(dateMs: number, random: () => number): string {
  const time = new Date(dateMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const end = Array.from({ length: randomChars }, () => letters[Math.floor(random() * letters.length)]).join('')
  return `${time}-${end}`
}

/** Numbers that nobody can foretell, from 0 up to, not including, 1. */
export function systemRandom(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32
}

/** Numbers that a seed decides. */
export function seededRandom(seed: number): () => number {
  const dice = new World({ seed })
  return () => dice.random()
}
