import { collapsed } from '../../base/one-line.ts'
import { z } from 'zod'
import type { ModelProvider } from '../../models/port.ts'
import { chatDeclaration } from '../../rules/delegation/chat-declaration.ts'
import { counted } from '../../rules/handles/shape-of.ts'
import { cutText } from '../../base/cut-text.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool, ToolContext, ToolOutput } from '../../tools/port.ts'
import { errorOutput } from '../../tools/tool-output.ts'
import type { ToolSettings } from './settings.ts'

/** Longest wait for one list, in milliseconds of real time. */
const timeoutMs = 10_000

const maxErrorChars = 300

/** The tool `chat`: another model is asked once. The systems of the agent's world answer it, on the budget of its turn. */
export function chatTool(): Tool {
  return Object.freeze<Tool>({
    declaration: chatDeclaration,
    call: () => errorOutput('chat is answered by the systems of a world: it runs for its agents alone.'),
  })
}

const chatModelsSchema = () =>
  z.strictObject({ provider: z.string().min(1).optional().describe('Name of a provider. Default: all.') })

/** The tool `chat_models`: the models that each configured provider lists. */
export function chatModelsTool({ providers }: ToolSettings): Tool {
  return defineTool({
    name: 'chat_models',
    description: 'Lists the models that chat can ask, by provider.',
    input: chatModelsSchema(),
    restart: 'pure',
    category: 'chat',
    operation: 'read',
    paths: [],
    run: ({ provider }, context) => listed(providers(), provider, context),
  })
}

async function listed(
  providers: Readonly<Record<string, ModelProvider>>,
  name: string | undefined,
  { signal }: ToolContext,
): Promise<string | ToolOutput> {
  const names = Object.keys(providers)
  if (name !== undefined && !names.includes(name)) {
    return errorOutput(`there is no provider ${name}. There are: ${names.join(', ')}.`)
  }
  const asked = name === undefined ? names : [name]
  const lists = await Promise.all(asked.map(async (each) => listOf(each, providers[each], signal)))
  signal.throwIfAborted()
  return lists.length === 0 ? 'No provider is configured.' : lists.join('\n')
}

/** The models of a provider, or why there are none, which is no error of the call. */
async function listOf(name: string, provider: ModelProvider | undefined, signal: AbortSignal): Promise<string> {
  if (provider?.models === undefined) return `${name}: it cannot list its models.`
  const tooLate = AbortSignal.timeout(timeoutMs)
  const ended = Promise.withResolvers<never>()
  const both = AbortSignal.any([signal, tooLate])
  const end = (): void => ended.reject(both.reason as Error)
  both.addEventListener('abort', end)
  try {
    const models = await Promise.race([provider.models(both), ended.promise])
    return [`${name}: ${counted(models.length, 'model')}`, ...models.map((model) => `  ${name}/${model}`)].join('\n')
  } catch (error) {
    const why = tooLate.aborted ? `no answer within ${timeoutMs / 1_000} s` : thrownMessage(error)
    return `${name}: ${cutText(collapsed(why), maxErrorChars, '…')}`
  } finally {
    both.removeEventListener('abort', end)
    ended.promise.catch(() => undefined)
  }
}
