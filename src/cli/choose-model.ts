import { EntiaError, type Failure, parseModel } from '../index.ts'
import { UsageError } from './usage-error.ts'

/** A provider as the command line knows it. */
interface Provider {
  /** Taken where no model is named. From the SDK's own list of models, as of 2026-11-21. */
  readonly defaultModel?: string
  /** The environment variable with its key; absent: it needs none. */
  readonly keyVariable?: string
}

/** By name; the first one whose key is set is taken where none is named. */
const providers: Readonly<Record<string, Provider>> = {
  anthropic: { defaultModel: 'claude-sonnet-5-5', keyVariable: 'ANTHROPIC_API_KEY' },
  openai: { defaultModel: 'gpt-6.1-terra', keyVariable: 'OPENAI_API_KEY' },
  moonshot: { keyVariable: 'MOONSHOT_API_KEY' },
  ollama: {},
  scripted: { defaultModel: 'reader' },
}

/** The model that needs no key. */
export const scriptedModel = 'scripted/reader'

/** The environment variables that choose a model by being set. */
export const choosingKeys = Object.values(providers).flatMap(({ defaultModel, keyVariable }) =>
  defaultModel === undefined || keyVariable === undefined ? [] : [keyVariable],
)

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The model to ask, as `provider/model`: the one that is named, or that of the first provider whose key is set, or the
 * scripted one.
 *
 * @throws UsageError for a name that names none
 */
export function chooseModel(named: string | undefined, environment: Environment): string {
  if (named !== undefined) return fullName(named)
  for (const [provider, { defaultModel, keyVariable }] of Object.entries(providers)) {
    if (defaultModel !== undefined && keyVariable !== undefined && isSet(environment, keyVariable)) {
      return `${provider}/${defaultModel}`
    }
  }
  return scriptedModel
}

function fullName(named: string): string {
  const slash = named.indexOf('/')
  const name = slash < 0 ? named : named.slice(0, slash)
  const provider = Object.hasOwn(providers, name) ? providers[name] : undefined
  if (provider === undefined) {
    const known = Object.keys(providers).join(', ')
    throw new UsageError(`--model takes PROVIDER/NAME, and there is no provider '${name}'. Known: ${known}.`)
  }
  const model = slash < 0 ? provider.defaultModel : named.slice(slash + 1)
  if (model === undefined || model === '') throw new UsageError(`--model ${named}: which model? Write ${name}/NAME.`)
  if (name === 'scripted' && model !== provider.defaultModel) {
    throw new UsageError(`--model ${named}: the only scripted model is ${scriptedModel}.`)
  }
  return `${name}/${model}`
}

/** @throws `missing-api-key` if the model's provider needs a key that is not set */
export function assertKey(model: string, environment: Environment): void {
  const keyVariable = providers[parseModel(model).provider]?.keyVariable
  if (keyVariable === undefined || isSet(environment, keyVariable)) return
  const advice = `Set ${keyVariable}, or name another model with --model; ${scriptedModel} needs no key.`
  throw new EntiaError('missing-api-key', `${model} needs a key, and ${keyVariable} is not set. ${advice}`, { model })
}

/** What a person can do about a failure of this model. */
export function adviceOn({ kind }: Pick<Failure, 'kind'>, model: string): string | undefined {
  const keyVariable = providers[parseModel(model).provider]?.keyVariable
  switch (kind) {
    case 'unauthorized':
      return keyVariable === undefined ? undefined : `Check ${keyVariable} and the account behind it.`
    case 'rate-limited':
    case 'overloaded':
    case 'timed-out':
    case 'truncated':
      return 'It was tried several times. Ask again later, or name another model with --model.'
    case 'context-overflow':
      return 'Ask about a smaller folder, or name a model with more room with --model.'
    case 'invalid-request':
      return `Check that there is a model ${model}, or name another one with --model.`
    case 'step-limit':
      return 'Ask something narrower, or about a smaller folder.'
    default:
      return undefined
  }
}

function isSet(environment: Environment, variable: string): boolean {
  return (environment[variable] ?? '') !== ''
}
