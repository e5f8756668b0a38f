import { EntiaError } from '../../base/entia-error.ts'
import { checkOptions, environment, flag, refuseMisfits, type ShapesOf, table, text } from '../../base/option-shapes.ts'
import { didYouMean } from '../../base/near-names.ts'
import {
  configuredProviders,
  type Environment,
  builtInProviderTable,
  keyOf,
  type KnownProvider,
  knownProviders,
  type ProviderConfig,
} from './known-providers.ts'

/** Used where neither a program nor a configuration names a provider. */
const defaultProvider = 'anthropic'

type Known = Readonly<Record<string, KnownProvider>>

/** What names a model: a provider, a model of it, or both as `provider/model`. */
export interface ModelNames {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

/** Options of `chooseProvider`. */
export interface ChooseProviderOptions extends ModelNames {
  /** Counts where the two above say nothing. */
  readonly config?:
    | (ModelNames & { readonly providers?: Readonly<Record<string, ProviderConfig>> | undefined })
    | undefined
  /** @default that of the process */
  readonly env?: Environment | undefined
  /** Refuses a provider whose key is missing. @default true */
  readonly validateApiKey?: boolean | undefined
}

/** A model and who serves it. */
export interface ChosenProvider {
  readonly provider: string
  /** Without the provider. */
  readonly model: string
  /** The environment variable with the provider's key. Absent: it needs none. */
  readonly keyVariable?: string
}

/**
 * The provider: the one named, else that of the configuration, else `anthropic`. The model: the one named, else that of the
 * configuration if it is of this provider, else the provider's default. Makes no request.
 *
 * @throws `conflicting-provider`, `unknown-provider`, `missing-api-key`, `invalid-argument`
 */
export function chooseProvider(options: ChooseProviderOptions): ChosenProvider {
  checkOptions('chooseProvider', options, chooseShapes)
  const { config = {}, env = process.env, validateApiKey = true } = options
  refuseMisfits('chooseProvider', config, configShapes)
  const known = knownProviders(config.providers)
  const asked = namesIn(options, known)
  // A configuration may name a provider alone as its model.
  const isAlone = config.model !== undefined && Object.hasOwn(known, config.model)
  const own = namesIn(isAlone ? { ...config, model: `${config.model}/` } : config, known)
  const isOfOwn = asked.provider === undefined || own.provider === undefined || own.provider === asked.provider
  const names = {
    provider: asked.provider ?? own.provider,
    model: asked.model ?? (isOfOwn ? own.model : undefined),
  }
  const chosen = wholeNames(names, known)
  const keyVariable = known[chosen.provider]?.keyVariable
  if (keyVariable === undefined) return chosen
  if (validateApiKey && keyOf(env, keyVariable) === undefined) {
    const what = `${keyVariable} is not set. Set it, or choose another provider.`
    throw new EntiaError('missing-api-key', what, { ...chosen, variable: keyVariable })
  }
  return { ...chosen, keyVariable }
}

/**
 * The whole name of a model, `provider/model`, among the providers of a Host.
 *
 * @throws `conflicting-provider`, `unknown-provider`; `invalid-argument` for a provider without a default model
 */
export function wholeModelName(names: ModelNames, providers: readonly string[]): string {
  const builtIn: Known = builtInProviderTable
  const known = Object.fromEntries(providers.map((name) => [name, Object.hasOwn(builtIn, name) ? builtIn[name] : {}]))
  const { provider, model } = wholeNames(namesIn(names, known as Known), known as Known)
  return `${provider}/${model}`
}

/**
 * A whole name, `provider/model`, whose provider is one of these.
 *
 * @param own the provider whose models are meant where none is named
 * @throws `unknown-provider`
 */
export function knownModel(name: string, own: string, providers: readonly string[]): string {
  const provider = name.slice(0, name.indexOf('/'))
  if (providers.includes(provider)) return name
  throw unknownProvider(provider, providers, ` For a model of ${own} with this name: ${own}/${name}.`)
}

function unknownProvider(provider: string, names: readonly string[], advice = ''): EntiaError {
  const what = `There is no model provider '${provider}'.${didYouMean(provider, names)}`
  return new EntiaError('unknown-provider', `${what} Known: ${names.join(', ')}.${advice}`, { provider })
}

/** Splits `provider/model` where its first part is a known provider. @throws `conflicting-provider` */
function namesIn({ provider, model }: ModelNames, known: Known): ModelNames {
  const slash = model?.indexOf('/') ?? -1
  const named = model?.slice(0, Math.max(slash, 0)) ?? ''
  if (model === undefined || !Object.hasOwn(known, named)) return { provider, model }
  if (provider !== undefined && provider !== named) {
    const what = `The model '${model}' is one of ${named}, and the provider is '${provider}'.`
    throw new EntiaError('conflicting-provider', `${what} Name one of the two only.`, { provider, model })
  }
  const rest = model.slice(slash + 1)
  return { provider: named, model: rest === '' ? undefined : rest }
}

function wholeNames({ provider = defaultProvider, model }: ModelNames, known: Known) {
  if (!Object.hasOwn(known, provider)) throw unknownProvider(provider, Object.keys(known))
  const chosen = model ?? known[provider]?.defaultModel
  if (chosen !== undefined) return { provider, model: chosen }
  const what = `The provider '${provider}' has no default model. Pass the option 'model'.`
  throw new EntiaError('invalid-argument', what, { option: 'model' })
}

const chooseShapes: ShapesOf<ChooseProviderOptions> = {
  provider: text,
  model: text,
  config: table,
  env: environment,
  validateApiKey: flag,
}
const configShapes = { provider: text, model: text, providers: configuredProviders }
