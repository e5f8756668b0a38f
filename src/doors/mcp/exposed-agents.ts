import { thrownMessage } from '../../base/thrown-message.ts'
import { z } from 'zod'
import { type ToolPreset, toolPresets } from '../../rules/delegation/declarations.ts'
import { chatDeclaration } from '../../rules/delegation/chat-declaration.ts'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import { errorOutput } from '../../tools/tool-output.ts'
import { collectSubagent, killSubagent, listSubagents, querySubagent } from '../../runtime/subagents/chat-subagents.ts'
import type { ServerAgents } from './server-agents.ts'

const filled = () => z.string().regex(/\S/, 'expected a text that is not empty')
const id = () => filled().describe('Its id, a beginning of it that no other has, or its number.')
const common = { restart: 'once', operation: 'exec', category: 'subagent', paths: [] } as const

/** What is said while a subagent is at work. */
const stillRunning = '[still running: collect_subagent has its answer later]'

const maxWaitMs = 600_000

/** The tools by which clients have subagents of a server work for them. */
export function subagentTools(agents: ServerAgents): Tool[] {
  return [spawnTool, queryTool, collectTool, listTool, killTool].map((tool) => tool(agents))
}

function spawnTool(agents: ServerAgents): Tool {
  return defineTool({
    ...common,
    name: 'spawn_subagent',
    description: 'Gives a task to a subagent, which works on it in the background. Gives its id.',
    input: z.strictObject({
      task: filled().describe('All that it has to know.'),
      preset: z
        .enum(Object.keys(toolPresets) as [ToolPreset])
        .optional()
        .describe('What it may do. Default: investigate, which only reads.'),
      tools: z.array(z.string()).optional().describe('Names of its tools, instead of a preset.'),
      model: filled().optional().describe("A model of the server's provider, or provider/model."),
    }),
    run: (task) => orError(async () => agents.spawn(task)),
  })
}

function queryTool(agents: ServerAgents): Tool {
  return defineTool({
    ...common,
    name: 'query_subagent',
    description: 'Asks a subagent that has answered its task a further question.',
    input: z.strictObject({
      id: id(),
      prompt: filled(),
      wait: z.boolean().default(true).describe('false: collect the answer later.'),
      timeoutMs: z.int().min(0).max(maxWaitMs).default(60_000).describe('Longest wait.'),
    }),
    run: ({ id: ref, prompt, timeoutMs, wait }) =>
      orError(async () => {
        const reply = await querySubagent(await agents.spending(), ref, prompt, { wait, timeoutMs })
        return wait ? (reply ?? stillRunning) : stillRunning
      }),
  })
}

function collectTool(agents: ServerAgents): Tool {
  return defineTool({
    ...common,
    name: 'collect_subagent',
    description: 'Gives the answer of a subagent, once.',
    input: z.strictObject({
      id: id(),
      timeoutMs: z.int().min(0).max(maxWaitMs).default(0).describe('Longest wait. Default: none.'),
    }),
    run: ({ id: ref, timeoutMs }) =>
      orError(async () => {
        const session = await agents.known()
        if (session === undefined) throw new Error(`there is no subagent '${ref}': none was spawned.`)
        return (await collectSubagent(session, ref, { wait: timeoutMs > 0, timeoutMs })) ?? stillRunning
      }),
  })
}

function listTool(agents: ServerAgents): Tool {
  return defineTool({
    ...common,
    restart: 'pure',
    operation: 'read',
    name: 'list_subagents',
    description: 'Lists the subagents of this server, with what they do and have cost.',
    input: z.strictObject({}),
    run: () =>
      orError(async () => {
        const session = await agents.known()
        if (session === undefined) return '[]'
        return JSON.stringify(await listSubagents(session), undefined, 2)
      }),
  })
}

function killTool(agents: ServerAgents): Tool {
  return defineTool({
    ...common,
    name: 'kill_subagent',
    description: 'Ends a subagent. false: there is none of that id, or it was ended before.',
    input: z.strictObject({ id: id() }),
    run: ({ id: ref }) =>
      orError(async () => {
        const session = await agents.known()
        return String(session !== undefined && (await killSubagent(session, ref)))
      }),
  })
}

/** `chat` for clients: it spends from the cap of the server. */
export function exposedChat(agents: ServerAgents): Tool {
  const { description, name } = chatDeclaration
  return defineTool({
    name,
    description,
    input: z.strictObject({
      prompt: filled().describe('All that it has to know.'),
      model: filled()
        .optional()
        .describe("A model of the server's provider, or provider/model. Default: the server's."),
      system: filled().optional().describe('System prompt.'),
    }),
    restart: 'pure',
    operation: 'read',
    category: 'chat',
    paths: [],
    run: ({ model, prompt, system = 'Answer what you are asked.' }) =>
      orError(async () => {
        const session = await agents.spending(model)
        const { digest, failure } = await session.runner.runSubtask(session.agent, {
          name,
          systemPrompt: system,
          userMessage: prompt,
          tools: [],
          maxSteps: 1,
          timeoutMs: maxWaitMs,
          ...(model !== undefined && { model: model.includes('/') ? model : `${session.provider}/${model}` }),
        })
        if (failure !== undefined) throw new Error(failure.message)
        return digest
      }),
  })
}

/** A refusal is a result: its text is for the model of the client. */
async function orError(work: () => Promise<string>) {
  try {
    return await work()
  } catch (error) {
    return errorOutput(thrownMessage(error))
  }
}
