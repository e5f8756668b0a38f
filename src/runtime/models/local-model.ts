import { type Clock, realClock } from '../../engine/loop/clock.ts'
import { checkOptions, environment, flag, listOf, objectWith, type ShapesOf, text } from '../../base/option-shapes.ts'
import type { Environment } from './known-providers.ts'

const defaultAddress = 'http://127.0.0.1:11434'
/** Until Ollama must have listed its models. */
const timeoutMs = 1_500
/** How long it counts that there is none. */
const noneCountsMs = 60_000
/** More bytes than any list of models. */
const maxListBytes = 4 << 20

/** Models that `defaultLocalModel` looks for unless a configuration names others. */
export const defaultLocalModels: readonly string[] = ['gpt-oss:120b', 'gpt-oss:20b']

/** Options of `defaultLocalModel`. */
export interface LocalModelOptions {
  /** Asks again, whatever was found before. @default false */
  readonly refresh?: boolean | undefined
  /** What to look for, the best first. A name without a tag means `:latest`. @default gpt-oss:120b, gpt-oss:20b */
  readonly localModels?: readonly string[] | undefined
  /** Where `OLLAMA_HOST` is read. @default that of the process */
  readonly env?: Environment | undefined
  /** @default the time of the machine */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/** What was found, by address and models. */
const found = new Map<string, { readonly model: string | null; readonly untilMs: number }>()
/** Requests under way, by the same. */
const asking = new Map<string, Promise<string | null>>()

/**
 * The first of the wanted models that Ollama has installed, or `null`: none, or no Ollama answers within 1.5 s. What is found
 * is kept for the process, `null` for 60 s; calls at the same time share one request.
 *
 * @throws by its promise, `invalid-argument` and nothing else
 */
export async function defaultLocalModel(options: LocalModelOptions = {}): Promise<string | null> {
  checkOptions('defaultLocalModel', options, localModelShapes)
  const { refresh = false, localModels = defaultLocalModels, env = process.env, clock = realClock } = options
  const address = ollamaAddress(env)
  if (address === undefined) return null
  const key = [address, ...localModels].join('\n')
  const before = found.get(key)
  if (!refresh && before !== undefined && clock.now() < before.untilMs) return before.model
  const underWay = asking.get(key)
  if (underWay !== undefined) return underWay
  const request = firstInstalled(address, localModels)
  asking.set(key, request)
  const model = await request
  asking.delete(key)
  found.set(key, { model, untilMs: model === null ? clock.now() + noneCountsMs : Infinity })
  return model
}

/** The models that Ollama has, where it answers and this one is none of them; `undefined` otherwise. */
export async function otherLocalModels(model: string, env: Environment): Promise<readonly string[] | undefined> {
  const address = ollamaAddress(env)
  if (address === undefined) return undefined
  try {
    const installed = await installedModels(address)
    return installed.some((name) => withTag(name) === withTag(model)) ? undefined : installed
  } catch {
    return undefined
  }
}

async function firstInstalled(address: string, wanted: readonly string[]): Promise<string | null> {
  try {
    const installed = new Set((await installedModels(address)).map(withTag))
    return wanted.find((name) => installed.has(withTag(name))) ?? null
  } catch {
    return null
  }
}

async function installedModels(address: string): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { body, ok } = await fetch(`${address}/api/tags`, { signal, redirect: 'error' })
  if (!ok || body === null) throw new Error('Ollama does not list its models.')
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    sizeBytes += chunk.length
    if (sizeBytes > maxListBytes) throw new Error('The list of models is too long.')
  }
  const list: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  const { models } = list as { readonly models: readonly { readonly name: string }[] }
  return models.map(({ name }) => name)
}

function withTag(name: string): string {
  return name.includes(':') ? name : `${name}:latest`
}

/** Where Ollama is, without a slash at the end; `undefined` where `OLLAMA_HOST` is no address. */
export function ollamaAddress(env: Environment): string | undefined {
  const given = (env['OLLAMA_HOST'] ?? '').trim()
  if (given === '') return defaultAddress
  const hasScheme = /^https?:\/\//i.test(given)
  const named = given.startsWith(':') ? `127.0.0.1${given}` : given
  const whole = hasScheme ? named : `http://${named}`
  if (!URL.canParse(whole)) return undefined
  const url = new URL(whole)
  if (!hasScheme && url.port === '' && !/:80(?:\/|$)/.test(named)) url.port = '11434'
  // A server listens there on all addresses; this machine reaches it on its own.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

const localModelShapes: ShapesOf<LocalModelOptions> = {
  refresh: flag,
  localModels: listOf(text),
  env: environment,
  clock: objectWith('a clock, { now }', 'now'),
}
