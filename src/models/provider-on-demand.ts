import type { JsonObject } from '../world/json.ts'
import type { ModelProvider } from './port.ts'

/** A provider whose code, SDK and all, is loaded when it is first called, and kept. */
export function providerOnDemand(load: () => Promise<ModelProvider>, settings?: JsonObject): ModelProvider {
  let provider: Promise<ModelProvider> | undefined
  const loaded = () => (provider ??= load())
  return {
    settings,
    call: async (request, context) => (await loaded()).call(request, context),
    models: async () => (await (await loaded()).models?.()) ?? [],
  }
}
