import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  acceptedContent,
  completable,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { z } from 'zod'
import { defineTool, type Tool } from 'entia'
import { mcpHandler } from 'entia/mcp'

/**
 * A program with an MCP server that has what the conformance suite asks for: tools of Entia where a tool gives a result, and
 * tools, prompts and resources of the SDK, by `configure`, where the suite tests what only the protocol has.
 */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const base64 = (text: string) => Buffer.from(text).toString('base64')

const plain = { input: z.object({}), restart: 'pure', operation: 'read' } as const

const tools: Tool[] = [
  defineTool({
    ...plain,
    name: 'test_simple_text',
    description: 'Gives a text.',
    run: () => 'This is a simple text response for testing.',
  }),
  defineTool({
    ...plain,
    name: 'test_image_content',
    description: 'Gives an image.',
    run: () => ({ content: [{ type: 'file', mediaType: 'image/png', data: png }] }),
  }),
  defineTool({
    ...plain,
    name: 'test_audio_content',
    description: 'Gives a sound.',
    run: () => ({ content: [{ type: 'file', mediaType: 'audio/wav', data: wav }] }),
  }),
  defineTool({
    ...plain,
    name: 'test_embedded_resource',
    description: 'Gives a file.',
    run: () => ({
      content: [
        {
          type: 'file',
          mediaType: 'text/plain',
          url: 'test://embedded-resource',
          data: base64('This is an embedded resource content.'),
        },
      ],
    }),
  }),
  defineTool({
    ...plain,
    name: 'test_multiple_content_types',
    description: 'Gives a text, an image and a file.',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'file', mediaType: 'image/png', data: png },
        {
          type: 'file',
          mediaType: 'application/json',
          url: 'test://mixed-content-resource',
          data: base64('{"test":"data","value":123}'),
        },
      ],
    }),
  }),
  defineTool({
    ...plain,
    name: 'test_error_handling',
    description: 'Fails.',
    run: () => {
      throw new Error('This tool intentionally returns an error for testing')
    },
  }),
  defineTool({
    ...plain,
    name: 'test_tool_with_progress',
    description: 'Says how far it is.',
    run: (_, { progress }) => {
      for (const fraction of [0, 0.5, 1]) progress(`${fraction * 100} of 100`, fraction)
      return 'Done.'
    },
  }),
]

const codec = createRequestStateCodec<{ readonly step: string; readonly name?: string }>({
  key: crypto.getRandomValues(new Uint8Array(32)),
})
const said = (text: string) => ({ content: [{ type: 'text' as const, text }] })
const ask = (message: string, field: string, type: 'string' | 'boolean' = 'string') => {
  const property = type === 'string' ? { type } : { type }
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: property }, required: [field] },
  })
}
const sample = (text: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens })

type Result = CallToolResult | InputRequiredResult
type Run = (given: unknown, context: ServerContext) => Result | Promise<Result>

/** A tool of the SDK, without arguments. */
function addTool(server: McpServer, name: string, run: Run): void {
  server.registerTool(name, { description: name, inputSchema: z.object({}) }, run)
}

function addSdkTools(server: McpServer): void {
  const add = (name: string, run: Run) => addTool(server, name, run)
  server.server.registerCapabilities({ logging: {}, completions: {} })
  add('test_tool_with_logging', async (_, { mcpReq }) => {
    for (const text of ['started', 'processing data', 'completed']) {
      // oxlint-disable-next-line typescript/no-deprecated -- the suite tests it
      await mcpReq.log('info', `Tool ${text}`)
    }
    return said('Logged.')
  })
  add('test_logging_tool', async (_, { mcpReq }) => {
    // oxlint-disable-next-line typescript/no-deprecated -- the suite tests it
    await mcpReq.log('info', 'Logged, if the client wants it')
    return said('Logged.')
  })
  add('test_streaming_elicitation', () =>
    inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } }),
  )
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of the client.', inputSchema: z.object({ prompt: z.string() }) },
    ({ prompt }, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'answer')
      if (answer.kind !== 'sampling') return inputRequired({ inputRequests: { answer: sample(prompt, 100) } })
      return said(`LLM response: ${JSON.stringify(answer.result.content)}`)
    },
  )
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user.', inputSchema: z.object({ message: z.string() }) },
    ({ message }, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'user')
      if (answer.kind === 'elicit') return said(`User response: ${JSON.stringify(answer)}`)
      const properties = {
        username: { type: 'string' as const, description: "User's response" },
        email: { type: 'string' as const, description: "User's email address" },
      }
      const requestedSchema = { type: 'object' as const, properties, required: ['username', 'email'] }
      return inputRequired({ inputRequests: { user: inputRequired.elicit({ message, requestedSchema }) } })
    },
  )
  const elicited = (name: string, properties: object) =>
    add(name, (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'form')
      if (answer.kind === 'elicit') {
        return said(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`)
      }
      const requestedSchema = { type: 'object' as const, properties: properties as never }
      return inputRequired({
        inputRequests: { form: inputRequired.elicit({ message: 'Please fill in', requestedSchema }) },
      })
    })
  elicited('test_elicitation_sep1034_defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  })
  const titled = (prefix: string) => [1, 2, 3].map((n) => ({ const: `value${n}`, title: `${prefix} ${n}` }))
  elicited('test_elicitation_sep1330_enums', {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled('Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
  })
}

function addInputRequiredTools(server: McpServer): void {
  const name = z.object({ name: z.string() })
  const add = (tool: string, run: Run) => addTool(server, tool, run)
  add('test_input_required_result_elicitation', (_, { mcpReq }) => {
    const user = acceptedContent(mcpReq.inputResponses, 'user_name', name)
    return user === undefined
      ? inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } })
      : said(`Hello, ${user.name}!`)
  })
  add('test_input_required_result_sampling', (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'capital_question')
    return answer.kind === 'sampling'
      ? said(JSON.stringify(answer.result.content))
      : inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } })
  })
  add('test_input_required_result_list_roots', (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'client_roots')
    return answer.kind === 'roots'
      ? said(`Roots: ${answer.roots.map(({ uri }) => uri).join(', ')}`)
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  })
  const confirmed = (tool: string) =>
    add(tool, async (_, context) => {
      const state = context.mcpReq.requestState<{ readonly step: string }>()
      const answer = acceptedContent(context.mcpReq.inputResponses, 'confirm', z.object({ ok: z.boolean() }))
      if (answer !== undefined && state?.step === 'confirm') return said('state-ok')
      const requestState = await codec.mint({ step: 'confirm' }, context)
      return inputRequired({ inputRequests: { confirm: ask('Please confirm', 'ok', 'boolean') }, requestState })
    })
  confirmed('test_input_required_result_request_state')
  confirmed('test_input_required_result_tampered_state')
  add('test_input_required_result_multiple_inputs', async (_, context) => {
    const { inputResponses } = context.mcpReq
    const user = acceptedContent(inputResponses, 'user_name', name)
    const greeting = inputResponse(inputResponses, 'greeting')
    const roots = inputResponse(inputResponses, 'client_roots')
    if (user !== undefined && greeting.kind === 'sampling' && roots.kind === 'roots')
      return said(`Hello, ${user.name}!`)
    return inputRequired({
      inputRequests: {
        user_name: ask('What is your name?', 'name'),
        greeting: sample('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await codec.mint({ step: 'inputs' }, context),
    })
  })
  add('test_input_required_result_multi_round', async (_, context) => {
    const { inputResponses } = context.mcpReq
    const state = context.mcpReq.requestState<{ readonly step: string; readonly name?: string }>()
    const color = acceptedContent(inputResponses, 'step2', z.object({ color: z.string() }))
    if (state?.step === 'color' && color !== undefined) return said(`${state.name} likes ${color.color}.`)
    const user = acceptedContent(inputResponses, 'step1', name)
    const isNamed = state?.step === 'name' && user !== undefined
    const next = isNamed ? { step: 'color', name: user.name } : { step: 'name' }
    return inputRequired({
      inputRequests: isNamed
        ? { step2: ask('Step 2: What is your favorite color?', 'color') }
        : { step1: ask('Step 1: What is your name?', 'name') },
      requestState: await codec.mint(next, context),
    })
  })
  add('test_input_required_result_capabilities', (_, { mcpReq }) => {
    const clientCapabilities = capabilitiesOf(mcpReq.envelope)
    return inputRequired({
      inputRequests: {
        ...('elicitation' in clientCapabilities && { user_name: ask('What is your name?', 'name') }),
        ...('sampling' in clientCapabilities && { capital_question: sample('What is the capital of France?', 100) }),
      },
      requestState: 'asked',
    })
  })
  add('test_missing_capability', () =>
    inputRequired({ inputRequests: { greeting: sample('Generate a greeting', 50) } }),
  )
}

function capabilitiesOf(envelope: object | undefined): object {
  return Object(Object(envelope)['io.modelcontextprotocol/clientCapabilities']) as object
}

function addPrompts(server: McpServer): void {
  const user = (content: object) => ({ role: 'user' as const, content: content as { type: 'text'; text: string } })
  const text = (words: string) => user({ type: 'text', text: words })
  server.registerPrompt('test_simple_prompt', { description: 'A prompt.' }, () => ({
    messages: [text('This is a simple prompt for testing.')],
  }))
  const place = completable(z.string(), (value) => ['paris', 'park', 'party'].filter((word) => word.startsWith(value)))
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'A prompt with arguments.', argsSchema: z.object({ arg1: place, arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a file.', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        text('Please process the embedded resource above.'),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image.' }, () => ({
    messages: [user({ type: 'image', data: png, mimeType: 'image/png' }), text('Please analyze the image above.')],
  }))
  server.registerPrompt('test_input_required_result_prompt', { description: 'A prompt that asks.' }, ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_context', z.object({ context: z.string() }))
    if (given !== undefined) return { messages: [text(`Use this context: ${given.context}`)] }
    return inputRequired({ inputRequests: { user_context: ask('What context should the prompt use?', 'context') } })
  })
}

function addResources(server: McpServer): void {
  const described = (mimeType: string) => ({ description: 'A resource.', mimeType })
  server.registerResource('static-text', 'test://static-text', described('text/plain'), ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }))
  server.registerResource('static-binary', 'test://static-binary', described('image/png'), ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: png }],
  }))
  server.registerResource('watched', 'test://watched-resource', described('text/plain'), ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'Watched.' }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, described('application/json'), ({ href: uri }, { id }) => ({
    contents: [
      {
        uri,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }))
  server.server.registerCapabilities({ resources: { subscribe: true } })
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

const handler = await mcpHandler({
  token: false,
  tools,
  info: { name: 'everything', version: '1.0.0' },
  verifyState: (state, context) => codec.verify(state, context),
  configure(server) {
    addSdkTools(server)
    addInputRequiredTools(server)
    addPrompts(server)
    addResources(server)
  },
})
const answer = toNodeHandler(handler)
const server = createServer((request, response) => void answer(request as never, response))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`)
})
