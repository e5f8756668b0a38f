import type { ModelProvider, ModelRequest } from '../models/port.ts'
import { builtInProviders } from '../models/providers.ts'
import { parseModel } from '../protocol/model-name.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { JsonObject } from '../base/json.ts'
import type { PastWorlds } from './past-worlds.ts'
import { ownValue } from './reading/own-value.ts'
import type { RequestQuery, RequestReply } from './reading/wire.ts'
import { partedRequest } from './request-parts.ts'
import type { Source } from './source.ts'

/** What a model call was sent, rebuilt. @throws `no-such-world`, `invalid-argument` */
export async function requestAt(
  source: Source,
  past: PastWorlds,
  { effect, tick, world }: RequestQuery,
): Promise<RequestReply> {
  const { agent, model, parts, request, tokens } = await past.at(world, tick, (then) => partedRequest(then, effect))
  const { options, outputSchema } = request
  return {
    agent,
    model,
    parts,
    options: JSON.parse(JSON.stringify(options)) as JsonObject,
    outputSchema,
    tokens,
    ...(await wireOf(source, model, request)),
  }
}

/** As the adapter of the provider would send it. The program's own says it best; of a store the built-in ones do. */
async function wireOf(
  source: Source,
  model: string,
  request: ModelRequest,
): Promise<Pick<RequestReply, 'wire' | 'wireProblem'>> {
  try {
    return { wire: await providerIn(source, parseModel(model).provider)?.wire?.(request) }
  } catch (error) {
    // A request that its provider cannot be sent, such as one with a file that it does not take.
    if (error instanceof EntiaError) return { wireProblem: error.message }
    throw error
  }
}

function providerIn({ runner }: Source, name: string): ModelProvider | undefined {
  if (runner?.host.hasProvider(name) === true) return runner.host.provider(name)
  return ownValue(builtInProviders(), name)
}
