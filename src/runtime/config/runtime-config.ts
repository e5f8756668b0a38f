import { z } from 'zod'
import { flag, oneOf, whole } from '../../protocol/setting.ts'
import { type PolicyConfig, reaches } from '../../protocol/policy.ts'
import { ConfigSchema } from '../../rules/config/config-schema.ts'
import { type ConfigInput, mergeLayers } from '../../rules/config/config.ts'
import { cleanName } from '../../tools/files/clean-text.ts'
import { lazily } from '../../base/lazily.ts'
import { builtInProviderTable } from '../models/known-providers.ts'

const filled = () => z.string().regex(/\S/)
/** It stands in lines that people and models read, as it is. */
const isNameInLines = (text: string) => cleanName(text) === text
const names = (what: string) => z.array(filled()).describe(`a list of ${what}`)
const paths = () => names('paths')
const address = () => z.url({ protocol: /^https?$/ }).describe('an address that begins with http:// or https://')
const domains = () =>
  z
    .array(z.string().regex(/^(?:\*\.)?[^\s*/:@]+(?::\d+)?$/))
    .describe('a list of domains such as example.com and *.example.com, with or without a port')
const texts = (key: string) => z.record(filled().describe(key), z.string().describe('a text'))

/** A key that may be absent, and what it is for: editors and the documentation show it. */
const optional = <T extends z.ZodType>(meaning: string, schema: T) => schema.optional().meta({ title: meaning })

const Provider = lazily(() =>
  z.strictObject({
    api: oneOf('openai-chat', 'openai-responses', 'anthropic').meta({ title: 'The API that its server speaks.' }),
    baseUrl: address().meta({ title: 'Where its server is.' }),
    apiKeyEnv: optional(
      'Environment variable with its key. Absent: no key is sent.',
      filled().describe('the name of an environment variable'),
    ),
    defaultModel: filled().describe("a model's name").meta({ title: 'Its model where none is named.' }),
  }),
)

const McpServer = lazily(() =>
  z.strictObject({
    command: optional('The program of a server on this machine.', filled().describe('a program')),
    args: optional('Its arguments.', z.array(z.string()).describe('a list of texts')),
    env: optional('Its environment.', texts('the name of an environment variable')),
    url: optional('Where a server on the network is.', address()),
    headers: optional('Sent with each request.', texts('the name of a header')),
    trusted: optional('Its hints on what its tools do count.', flag()),
    allowedDomains: optional('Domains that it may reach in the sandbox. Default: allowedDomains.', domains()),
    writePaths: optional('Paths besides the working folder that it may write to in the sandbox.', paths()),
    sandbox: optional('It runs in the sandbox, where there is one. Default: true.', flag()),
    roots: optional(
      'Folders that it may work in (its roots). Default: that of the chat; none where its arguments name a folder.',
      paths(),
    ),
  }),
)

const AllowedCalls = lazily(() =>
  z.strictObject({
    command: optional(
      'The words of a shell command; plain operands may follow. Default: any call of the tool.',
      filled().describe('a command'),
    ),
    places: optional(
      'Where the calls may reach. Default: project.',
      z.array(z.enum(reaches)).describe(`a list of ${reaches.join(', ')}`),
    ),
    folder: optional(
      'The working folder of the chats that it counts for. Default: all.',
      filled()
        .regex(/^(?:[/\\~]|[a-zA-Z]:)/)
        .describe('an absolute path, or one that begins with ~'),
    ),
  }),
)

const ToolPermission = lazily(() =>
  z.union([
    oneOf('allow', 'ask', 'deny'),
    z.strictObject({
      allow: z.array(AllowedCalls()).meta({ title: 'Calls that need no question.' }),
      otherwise: optional(
        'What other calls get at least. Default: as without an entry.',
        z.literal('ask').describe('ask'),
      ),
    }),
  ]),
)

/** The keys of chat sessions. */
const chatKeys = () => ({
  $schema: optional('For editors.', filled().describe('the address of a JSON Schema')),
  provider: optional('The provider of models. Default: anthropic.', filled().describe("a provider's name")),
  localModels: optional(
    'Models to look for in Ollama, the best first. Default: gpt-oss:120b, gpt-oss:20b.',
    names('models'),
  ),
  maxSteps: optional('Model calls in a turn. Default: 50.', whole(1)),
  tools: optional('Tools and categories that an agent has. Default: all.', names('tools and categories')),
  toolPackages: optional('Packages with tools and skills.', names('packages')),
  dangerousTools: optional(
    'Tools that get at least approvalMode. Default: bash, cmd, run_js, write_file, replace_in_file.',
    names('tools'),
  ),
  permissions: optional(
    'What single tools get, instead of that.',
    z.record(filled().describe("a tool's name"), ToolPermission()),
  ),
  allowedPaths: optional('Paths that calls may touch. Default: all.', paths()),
  deniedPaths: optional('Paths that calls may not touch.', paths()),
  personalPaths: optional('Folders with personal data. Default: ~/Documents, ~/Downloads.', paths()),
  codePaths: optional('Folders with code, besides the working folder. Default: ~/projects, ~/src.', paths()),
  routing: optional(
    'Personal data goes to a local model: as advice, or enforced. Default: advisory.',
    oneOf('advisory', 'enforce'),
  ),
  sandbox: optional(
    'Commands, run_js and MCP servers run in a sandbox: where there is one, or always; require starts none without. Default: auto.',
    oneOf('auto', 'require', 'off'),
  ),
  sandboxedCommands: optional(
    'What commands that stay in the sandbox get in trusted folders: no question, or one as without it. Default: allow.',
    oneOf('allow', 'ask'),
  ),
  allowedDomains: optional('Domains that may be reached from the sandbox. Default: none.', domains()),
  passEnv: optional(
    'Variables that child processes get although their names look like secrets.',
    names('environment variables'),
  ),
})

/** The keys of what reaches further than the machine and one agent. */
const outerKeys = () => ({
  providers: optional(
    'Providers of your own, by name.',
    z.record(
      z
        .string()
        .regex(/^[^\s/]+$/)
        .refine(isNameInLines)
        .describe('a name without slashes, blanks and hidden characters'),
      Provider(),
    ),
  ),
  fetch: z
    .strictObject({
      allowPrivate: optional(
        'Servers with private addresses that fetch_url may reach.',
        z.array(z.string().regex(/^\S+:\d+$/)).describe('a list of servers as host:port'),
      ),
    })
    .optional(),
  mcp: z
    .strictObject({
      servers: optional(
        'MCP servers, by name.',
        z.record(
          filled().refine(isNameInLines).describe("a server's name without line breaks and hidden characters"),
          McpServer(),
        ),
      ),
      maxDeclared: optional(
        'Tools of servers that a model is shown; where there are more, it finds them by a search. Default: 40.',
        whole(0),
      ),
    })
    .optional(),
  subagents: ConfigSchema()
    .shape.subagents.unwrap()
    .extend({
      defaultPreset: optional(
        'The tools of a subagent for which none are named. Default: investigate.',
        oneOf('minimal', 'investigate', 'work'),
      ),
      exposeOverMcp: optional('Offers subagents to MCP clients. Default: false.', flag()),
      mcpSpendCapUsd: optional(
        'What MCP clients may spend through this process; null: no limit. Default: 5.',
        z.number().min(0).describe('a number ≥ 0').nullable(),
      ),
    })
    .optional(),
  workspace: z
    .strictObject({
      maxRetrievedChars: optional(
        'Characters of stored results that a turn begins with. Default: 8000.',
        z.number().int().min(0).max(32_000).describe('an integer from 0 to 32000'),
      ),
    })
    .optional(),
})

/** All keys of configuration files, in camelCase. */
export const RuntimeConfigSchema = lazily(() => ConfigSchema().extend({ ...chatKeys(), ...outerKeys() }))

/** What configuration files say. Keys that none of them has are absent: no default is filled in. */
export type RuntimeConfig = z.input<ReturnType<typeof RuntimeConfigSchema>>

/**
 * Lays one configuration over another: objects merge, anything else replaces. A provider and a model belong together, so one
 * that is named alone takes the other one away where they would not fit.
 */
export function layered(below: RuntimeConfig, above: RuntimeConfig): RuntimeConfig {
  const { provider, model, ...rest } = below
  const known = [...Object.keys(builtInProviderTable), ...Object.keys({ ...below.providers, ...above.providers })]
  const ofModel = (name: string | undefined) => known.find((each) => name === each || name?.startsWith(`${each}/`))
  const other = above.provider ?? ofModel(above.model)
  const own = provider ?? ofModel(model)
  const isOther = other !== undefined && own !== undefined && other !== own
  return mergeLayers(isOther ? rest : below, above)
}

/** What the policy reads of a configuration. */
export function policyConfigOf(config: RuntimeConfig): PolicyConfig {
  return picked(config, [
    'dangerousTools',
    'approvalMode',
    'permissions',
    'allowedPaths',
    'deniedPaths',
    'personalPaths',
    'codePaths',
    'routing',
  ])
}

/** The keys that `agent({ config })` and `readConfig` know. */
export function agentConfigOf(config: RuntimeConfig): ConfigInput {
  const { subagents, ...rest } = picked(config, [
    'approvalMode',
    'archival',
    'ceilings',
    'context',
    'model',
    'subagents',
    'trustedFolders',
  ])
  return { ...rest, ...(subagents !== undefined && { subagents: picked(subagents, ['enabled']) }) }
}

function picked<T extends object, Key extends keyof T>(from: T, keys: readonly Key[]): Pick<T, Key> {
  const entries = keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]] as const]))
  return Object.fromEntries(entries) as Pick<T, Key>
}
