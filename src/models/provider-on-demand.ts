import type { ModelProvider } from './port.ts'

/** What is known of a provider before it is loaded. */
type KnownBefore = Pick<ModelProvider, 'maxReplyBytes' | 'settings'>

/** A provider whose code, SDK and all, is loaded when it is first called, and kept. */
export function providerOnDemand(load: () => Promise<ModelProvider>, known: KnownBefore): ModelProvider {
  let provider: Promise<ModelProvider> | undefined
  const loaded = () => (provider ??= load())
  return {
    ...known,
    call: async (request, context) => (await loaded()).call(request, context),
    models: async () => (await (await loaded()).models?.()) ?? [],
  }
}
