import { anthropic } from '../../models/anthropic.ts'
import { moonshot, ollama, openai, openaiCompatible } from '../../models/openai.ts'
import type { ModelProvider } from '../../models/port.ts'
import { environment, refuseMisfit, table } from '../../base/option-shapes.ts'
import {
  builtInProviderTable,
  configuredProviders,
  type Environment,
  keyOf,
  type ProviderConfig,
} from './known-providers.ts'
import { ollamaAddress } from './local-model.ts'

/**
 * The providers of a configuration and an environment, by name, for `new Host({ models })`. Those that come with the package
 * are in it where the environment has their key, or an address of Ollama; a Host has the others by itself.
 *
 * @throws `invalid-argument`, also for a `baseUrl` that is no address
 */
export function providersOf(
  config: { readonly providers?: Readonly<Record<string, ProviderConfig>> | undefined },
  env: Environment,
): Record<string, ModelProvider> {
  refuseMisfit('providersOf', 'config', config, table)
  refuseMisfit('providersOf', 'env', env, environment)
  const { providers = {} } = config
  refuseMisfit('providersOf', 'providers', providers, configuredProviders)
  const made: Record<string, ModelProvider> = {}
  for (const [name, make] of Object.entries({ anthropic, openai, moonshot })) {
    const apiKey = keyOf(env, builtInProviderTable[name as 'anthropic'].keyVariable)
    if (apiKey !== undefined) made[name] = make({ apiKey })
  }
  const local = keyOf(env, 'OLLAMA_HOST') === undefined ? undefined : ollamaAddress(env)
  if (local !== undefined) made['ollama'] = ollama({ baseURL: `${local}/v1` })
  for (const [name, own] of Object.entries(providers)) made[name] = configuredProvider(name, own, env)
  return made
}

/** For servers without a key: the SDKs insist on one, and the environment's own must not go there. */
const noKey = 'none'

function configuredProvider(name: string, config: ProviderConfig, env: Environment): ModelProvider {
  const { api, apiKeyEnv, baseUrl: baseURL } = config
  const apiKey = apiKeyEnv === undefined ? undefined : keyOf(env, apiKeyEnv)
  if (api === 'openai-chat') return openaiCompatible({ name, baseURL, apiKey, apiKeyEnv })
  const server = { baseURL, apiKeyEnv, apiKey: apiKeyEnv === undefined ? noKey : apiKey }
  return api === 'anthropic' ? anthropic(server) : openai({ ...server, name })
}
