import type { ModelProvider } from './port.ts'

type KnownBefore = Pick<ModelProvider, 'maxReplyBytes' | 'settings'>

/** Loads a provider and its SDK at the first call. */
export function providerOnDemand(load: () => Promise<ModelProvider>, known: KnownBefore): ModelProvider {
  let provider: Promise<ModelProvider> | undefined
  const loaded = () => (provider ??= load())
  return {
    ...known,
    call: async (request, context) => (await loaded()).call(request, context),
    wire: async (request) => (await loaded()).wire?.(request),
    models: async (signal) => (await (await loaded()).models?.(signal)) ?? [],
  }
}
