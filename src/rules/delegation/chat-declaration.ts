import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'

/** The tool by which a model asks another one. A system answers it, so that its cost counts for the agent's turn. */
export const chatDeclaration: ToolDeclaration = Object.freeze({
  name: 'chat',
  description: 'Asks a language model once, without tools and without this conversation, and gives its answer.',
  inputSchema: {
    type: 'object',
    properties: {
      prompt: { type: 'string', description: 'All that it has to know.' },
      model: { type: 'string', description: 'provider/model, or a model of your own provider. Default: your own.' },
      system: { type: 'string', description: 'System prompt. Default: none.' },
      maxTokens: { type: 'integer', minimum: 1, description: 'Most tokens of the answer.' },
    },
    required: ['prompt'],
    additionalProperties: false,
  },
  restart: 'pure',
  world: true,
  operation: 'read',
  paths: [],
  category: 'chat',
})
