import { z } from 'zod'
import { flag, oneOf, whole } from '../../protocol/setting.ts'
import type { PolicyConfig } from '../../protocol/policy.ts'
import { ConfigSchema } from '../../rules/config/config-schema.ts'
import { type ConfigInput, mergeLayers } from '../../rules/config/config.ts'
import { lazily } from '../../world/lazily.ts'
import { builtInProviderTable } from '../models/known-providers.ts'

const filled = () => z.string().regex(/\S/)
const names = (what: string) => z.array(filled()).describe(`a list of ${what}`)
const paths = () => names('paths')
const approval = () => oneOf('allow', 'ask', 'deny')

const Provider = lazily(() =>
  z.strictObject({
    api: oneOf('openai-chat', 'openai-responses', 'anthropic'),
    baseUrl: z.url({ protocol: /^https?$/ }).describe('an address that begins with http:// or https://'),
    apiKeyEnv: filled().describe('the name of an environment variable').optional(),
    defaultModel: filled().describe("a model's name"),
  }),
)

const texts = (key: string) => z.record(filled().describe(key), z.string().describe('a text'))

const McpServer = lazily(() =>
  z.strictObject({
    command: filled().describe('a program').optional(),
    args: z.array(z.string()).describe('a list of texts').optional(),
    env: texts('the name of an environment variable').optional(),
    url: z
      .url({ protocol: /^https?$/ })
      .describe('an address that begins with http:// or https://')
      .optional(),
    headers: texts('the name of a header').optional(),
    trusted: flag().optional(),
  }),
)

/** All keys of configuration files, in camelCase. */
export const RuntimeConfigSchema = lazily(() =>
  ConfigSchema().extend({
    /** For editors. */
    $schema: filled().describe('the address of a JSON Schema').optional(),
    provider: filled().describe("a provider's name").optional(),
    localModels: names('models').optional(),
    maxSteps: whole(1).optional(),
    tools: names('tools and categories').optional(),
    toolPackages: names('packages').optional(),
    dangerousTools: names('tools').optional(),
    permissions: z.record(filled().describe("a tool's name"), approval()).optional(),
    allowedPaths: paths().optional(),
    deniedPaths: paths().optional(),
    personalPaths: paths().optional(),
    codePaths: paths().optional(),
    routing: oneOf('advisory', 'enforce').optional(),
    passEnv: names('environment variables').optional(),
    providers: z
      .record(
        z
          .string()
          .regex(/^[^\s/]+$/)
          .describe('a name without slashes and blanks'),
        Provider(),
      )
      .optional(),
    fetch: z
      .strictObject({
        allowPrivate: z
          .array(z.string().regex(/^\S+:\d+$/))
          .describe('a list of servers as host:port')
          .optional(),
      })
      .optional(),
    mcp: z.strictObject({ servers: z.record(filled().describe("a server's name"), McpServer()).optional() }).optional(),
    subagents: ConfigSchema()
      .shape.subagents.unwrap()
      .extend({
        defaultPreset: oneOf('minimal', 'investigate', 'work').optional(),
        exposeOverMcp: flag().optional(),
        mcpSpendCapUsd: z.number().min(0).nullable().describe('a number ≥ 0').optional(),
      })
      .optional(),
    workspace: z
      .strictObject({
        maxRetrievedChars: z.number().int().min(0).max(32_000).describe('an integer from 0 to 32000').optional(),
      })
      .optional(),
  }),
)

/** What configuration files say. Keys that none of them has are absent: no default is filled in. */
export type RuntimeConfig = z.input<ReturnType<typeof RuntimeConfigSchema>>

/** Keys that are read and checked, and that nothing uses yet. */
const laterKeys = [
  'toolPackages',
  'mcp',
  'subagents.defaultPreset',
  'subagents.exposeOverMcp',
  'subagents.mcpSpendCapUsd',
  'workspace',
] as const

/** The keys of a configuration that this version does not use. */
export function unusedKeys(config: RuntimeConfig): readonly string[] {
  return laterKeys.filter((key) => {
    const [section = '', inner] = key.split('.')
    const value = config[section as keyof RuntimeConfig] as Readonly<Record<string, unknown>> | undefined
    return inner === undefined ? value !== undefined : value?.[inner] !== undefined
  })
}

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
