import type { Client, Prompt, Transport } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../base/json.ts'
import { cleanTool, type ListedTool, plainText } from './tool-declarations.ts'

/** What a server offers. */
export interface Offer {
  /** The name that it gives itself, cleaned. */
  readonly title: string
  readonly tools: readonly ListedTool[]
  readonly hasResources: boolean
  readonly prompts: readonly OfferedPrompt[]
}

export interface OfferedPrompt {
  readonly name: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly isRequired: boolean }[]
}

/** More tools of a server are left out. */
const maxTools = 2_000
const maxPrompts = 200

/** Asks a connected server for all that it offers. */
export async function offered(client: Client, timeout: number): Promise<Offer> {
  const has = client.getServerCapabilities() ?? {}
  const options = { timeout, cacheMode: 'refresh' as const }
  const [{ tools }, { prompts }] = await Promise.all([
    has.tools === undefined ? { tools: [] } : client.listTools(undefined, options),
    has.prompts === undefined ? { prompts: [] } : client.listPrompts(undefined, options).catch(() => ({ prompts: [] })),
  ])
  return {
    title: plainText(client.getServerVersion()?.name ?? 'server', 100),
    tools: tools.slice(0, maxTools).map(({ annotations, description, inputSchema, name, outputSchema }) =>
      cleanTool({
        name,
        description,
        inputSchema: inputSchema as JsonObject,
        ...(outputSchema !== undefined && { outputSchema: outputSchema as JsonObject }),
        hints: { readOnly: annotations?.readOnlyHint, idempotent: annotations?.idempotentHint },
      }),
    ),
    hasResources: has.resources !== undefined,
    prompts: prompts.slice(0, maxPrompts).map(offeredPrompt),
  }
}

/** The SDK refuses a whole list for one tool that is not well formed: such a tool is mended, or left out. */
export function lenient(transport: Transport): Transport {
  let take: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    get: () => take,
    set(listener: Transport['onmessage']) {
      take =
        listener &&
        ((message, extra) => {
          if ('result' in message && Array.isArray(message.result['tools'])) {
            message.result['tools'] = message.result['tools'].flatMap(mended)
          }
          listener(message, extra)
        })
    },
  })
  return transport
}

function mended(tool: unknown): readonly JsonObject[] {
  const { description, inputSchema, name, outputSchema, ...rest } = isRecord(tool) ? tool : {}
  if (typeof name !== 'string') return []
  return [
    {
      ...rest,
      name,
      ...(typeof description === 'string' && { description }),
      inputSchema: { ...(isRecord(inputSchema) ? inputSchema : {}), type: 'object' },
      ...(isRecord(outputSchema) && { outputSchema: { ...outputSchema, type: 'object' } }),
    },
  ]
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function offeredPrompt({ arguments: wanted = [], description = '', name }: Prompt): OfferedPrompt {
  return {
    name,
    description: plainText(description, 300),
    arguments: wanted.map(({ name: argument, required }) => ({ name: argument, isRequired: required === true })),
  }
}
