import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Anthropic } from '@anthropic-ai/sdk'
import type { ContentBlockParam, MessageParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { agent, LastTurn, type ModelProvider, run, standardSystems, World } from 'entia'
import { anthropic } from 'entia/models'
import { lookUp, lookUpTool } from './bare-loop.ts'
import { compare, median, ratio } from './measure.ts'
import { readable, type Row } from './row.ts'

const agents = 1_000
const latencyMs = 20
const apiKey = 'none'

/** Agents over HTTP, each two model calls and a tool call, beside the same loop written on the SDK. */
export async function measure(): Promise<Row[]> {
  const program = join(import.meta.dirname, '../test/programs/model-server.ts')
  const server = spawn(process.execPath, ['--conditions=entia-source', program, String(latencyMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    const { value: baseURL } = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()
    const models = { anthropic: anthropic({ apiKey, baseURL }) }
    const sdk = new Anthropic({ apiKey, baseURL, maxRetries: 0 })
    const { cpuMicros, wallMs } = await compare({
      rounds: 7,
      warmUp: 2,
      work: () => frameworkAgents(models),
      against: () => Promise.all(Array.from({ length: agents }, () => bareAgent(sdk))),
    })
    const name = '1,000 agents over HTTP, two calls at 20 ms and a tool call each'
    const bareSeconds = median(wallMs.against) / 1_000
    const bareCpuSeconds = median(cpuMicros.against) / 1e6
    return [
      {
        name: `${name}, wall time over the bare loop`,
        value: ratio(wallMs),
        unit: '×',
        limit: 1.15,
        against: `the SDK alone ${readable(bareSeconds)} s`,
      },
      {
        name: `${name}, CPU over the bare loop`,
        value: ratio(cpuMicros),
        unit: '×',
        against: `the SDK alone ${readable(bareCpuSeconds)} s`,
      },
    ]
  } finally {
    server.stdin.end()
  }
}

async function frameworkAgents(models: Readonly<Record<string, ModelProvider>>): Promise<void> {
  const world = new World({ systems: standardSystems() })
  for (let made = 0; made < agents; made++) {
    world.spawn(...agent({ model: 'anthropic/claude', tools: [lookUpTool], messages: 'Which ships are on page 7?' }))
  }
  await run(world, { models, tools: [lookUpTool] })
  for (const entity of world.query(LastTurn)) {
    const { stop, steps, failure } = world.read(entity, LastTurn)
    if (stop !== 'done' || steps !== 2) throw new Error(`An agent ended with ${stop}: ${failure?.message}`)
  }
}

/** The loop as anyone would write it: a streamed call, the tools that it asks for, the next call. */
async function bareAgent(sdk: Anthropic): Promise<void> {
  const messages: MessageParam[] = [{ role: 'user', content: 'Which ships are on page 7?' }]
  const { name, description, inputSchema } = lookUpTool.declaration
  const tools = [{ name, description, input_schema: { ...inputSchema, type: 'object' as const } }]
  for (;;) {
    const content = await streamedAnswer(sdk, { messages, tools })
    messages.push({ role: 'assistant', content })
    const results = content.flatMap((block): ToolResultBlockParam[] =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result', tool_use_id: block.id, content: lookUp(block.input as { page: number }) }]
        : [],
    )
    if (results.length === 0) return
    messages.push({ role: 'user', content: results })
  }
}

async function streamedAnswer(
  sdk: Anthropic,
  { messages, tools }: Pick<Anthropic.MessageCreateParamsStreaming, 'messages' | 'tools'>,
): Promise<ContentBlockParam[]> {
  const content: ContentBlockParam[] = []
  let json = ''
  const request = { model: 'claude', max_tokens: 32_000, messages, stream: true as const }
  for await (const event of await sdk.messages.create(tools === undefined ? request : { ...request, tools })) {
    if (event.type === 'content_block_start') {
      json = ''
      const block = event.content_block
      if (block.type === 'text') content.push({ type: 'text', text: block.text })
      else if (block.type === 'tool_use') content.push({ type: 'tool_use', id: block.id, name: block.name, input: {} })
    } else if (event.type === 'content_block_delta') {
      const block = content.at(-1)
      if (event.delta.type === 'text_delta' && block?.type === 'text') block.text += event.delta.text
      else if (event.delta.type === 'input_json_delta') json += event.delta.partial_json
    } else if (event.type === 'content_block_stop') {
      const block = content.at(-1)
      if (block?.type === 'tool_use') block.input = JSON.parse(json)
    }
  }
  return content
}
