import { type Config, smallTierNotice, smallTierParentCheck, taskDefaults } from '../doors/context.ts'
import { EntiaError, type Failure } from '../index.ts'
import { parseModel } from '../doors/models.ts'
import { builtInProviderTable, keyOf, type KnownProvider } from '../runtime/models/known-providers.ts'
import { UsageError } from './parsed-words.ts'

/** By name. */
const providers: Readonly<Record<string, KnownProvider>> = {
  ...builtInProviderTable,
  scripted: { defaultModel: 'reader' },
}

export const scriptedModel = 'scripted/reader'

/** If no model is named, the first of these whose key is set is used. */
const chosenByKey = ['anthropic', 'openai'] as const

/** Environment variables whose presence chooses a model. */
export const choosingKeys = chosenByKey.map((name) => builtInProviderTable[name].keyVariable)

interface ModelSettings {
  readonly model?: string | undefined
  readonly context?: Partial<Pick<Config['context'], 'taskClass' | 'modelsByTier'>>
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The model to ask, as `provider/model`: the one named on the command line, else in the configuration, else that of the first
 * provider whose key is set, else the scripted one. A provider alone means its model for the task class, else its default.
 *
 * @throws UsageError
 */
export function chooseModel(named: string | undefined, environment: Environment, config: ModelSettings = {}): string {
  if (named !== undefined) return fullName('--model', named, config)
  if (config.model !== undefined) return fullName('model', config.model, config)
  const provider = chosenByKey.find((name) => keyOf(environment, builtInProviderTable[name].keyVariable) !== undefined)
  if (provider !== undefined) return `${provider}/${usualModel(provider, config)}`
  return scriptedModel
}

/** @param where the name was given, for messages */
function fullName(where: string, named: string, config: ModelSettings): string {
  const slash = named.indexOf('/')
  const name = slash < 0 ? named : named.slice(0, slash)
  if (!Object.hasOwn(providers, name)) {
    const known = Object.keys(providers).join(', ')
    throw new UsageError(`${where} must be PROVIDER/NAME, got the unknown provider '${name}'. Known: ${known}.`)
  }
  const model = slash < 0 ? usualModel(name, config) : named.slice(slash + 1)
  if (model === undefined || model === '') throw new UsageError(`${where} ${named} names no model: write ${name}/NAME.`)
  if (name === 'scripted' && `${name}/${model}` !== scriptedModel) {
    throw new UsageError(`${where} ${named}: the only scripted model is ${scriptedModel}.`)
  }
  return `${name}/${model}`
}

function usualModel(provider: string, { context = {} }: ModelSettings): string | undefined {
  const { taskClass, modelsByTier } = context
  const model = taskClass && taskDefaults({ taskClass, provider, config: { modelsByTier } }).model
  if (model === undefined) return providers[provider]?.defaultModel
  return model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model
}

/** @throws `missing-api-key` */
export function assertKey(model: string, environment: Environment): void {
  const keyVariable = providers[parseModel(model).provider]?.keyVariable
  if (keyVariable === undefined || keyOf(environment, keyVariable) !== undefined) return
  const advice = `Set ${keyVariable}, or name another model with --model; ${scriptedModel} needs no key.`
  throw new EntiaError('missing-api-key', `${model} needs a key: ${keyVariable} is not set. ${advice}`, { model })
}

export function adviceOn({ kind }: Pick<Failure, 'kind'>, model: string): string | undefined {
  const keyVariable = providers[parseModel(model).provider]?.keyVariable
  switch (kind) {
    case 'unauthorized':
      return keyVariable === undefined ? undefined : `Check ${keyVariable} and the account behind it.`
    case 'rate-limited':
    case 'overloaded':
    case 'timed-out':
    case 'truncated':
      return 'All retries failed. Ask again later, or name another model with --model.'
    case 'context-overflow':
      return 'Ask about a smaller folder, or name a model with a larger window with --model.'
    case 'invalid-request':
      return `Check that the model ${model} exists, or name another one with --model.`
    case 'budget-spent':
      return 'Raise the ceiling with --max-turn-cost-usd or --max-session-cost-usd, or ask something narrower.'
    case 'cost-unknown':
      return `Give ${model} a price under context.prices, or allow calls without one with --on-unpriced warn.`
    case 'watchdog':
      return 'Ask something narrower, or name another model with --model.'
    case 'step-limit':
      return 'Ask something narrower, or about a smaller folder.'
    default:
      return undefined
  }
}

export interface SmallTierGuardOptions {
  readonly model: string
  readonly config: Pick<Config, 'context'>
  readonly yolo: boolean
  /** One prompt, one answer. */
  readonly oneShot: boolean
  readonly interactive: boolean
}

/** Warns if the session's own model is small. Returns an exit code if the configuration refuses it. */
export function smallTierGuard(
  { model, config, yolo, oneShot, interactive }: SmallTierGuardOptions,
  err: { write(text: string): unknown },
): 2 | undefined {
  const { modelsByTier, smallTierParent: mode, tiers } = config.context
  const verdict = smallTierParentCheck({ model, mode, oneShot, yolo, interactive, tiers })
  if (verdict === 'none') return undefined
  err.write(`${smallTierNotice(model, { modelsByTier })}\n`)
  return verdict === 'refuse' ? 2 : undefined
}
