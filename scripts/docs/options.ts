import { z } from 'zod'
import { ConfigSchema } from '../../src/rules/config/config-schema.ts'
import { isPlain, settingKind, snakeCase } from '../../src/rules/config/check-settings.ts'
import { RuntimeConfigSchema } from '../../src/runtime/config/runtime-config.ts'
import { declarationsIn, table } from './declarations.ts'

/** Where the options of each function and class are declared, and what there is besides those in the table. */
const sources: readonly (readonly [title: string, path: string, name: string, besides?: string])[] = [
  ['agent(options)', 'src/runtime/agents/agent.ts', 'AgentOptions'],
  [
    'createAgent(options)',
    'src/runtime/agents/create-agent.ts',
    'CreateAgentOptions',
    'Besides these, the options of `agent` and of `Host`.',
  ],
  ['ask(runner, agent, message, options)', 'src/runtime/ask/ask.ts', 'AskOptions'],
  ['worlds(store, options)', 'src/runtime/agents/worlds.ts', 'WorldsOptions', 'Besides these, the options of `Host`.'],
  ['new Host(options)', 'src/engine/effects/host-options.ts', 'HostOptions'],
  [
    'new Runner(world, options)',
    'src/engine/loop/runner-options.ts',
    'RunnerOptions',
    'Besides these, the options of `Host`.',
  ],
  [
    'Runner.open(options)',
    'src/engine/loop/runner-options.ts',
    'OpenRunnerOptions',
    'Besides these, the options of `new Runner`.',
  ],
  ['new World(options)', 'src/world/world.ts', 'WorldOptions'],
  ['World.restore(…, options)', 'src/world/world.ts', 'RestoreOptions'],
  ['defineTool(options)', 'src/tools/define-tool.ts', 'ToolOptions'],
  ['fileTools(options)', 'src/tools/file-tools.ts', 'FileToolsOptions'],
  ['builtinTools(options)', 'src/runtime/tools/builtin-tools.ts', 'BuiltinToolsOptions'],
  ['standardSystems(options)', 'systems/index.ts', 'StandardSystemsOptions'],
  ['sqliteStore(options)', 'src/stores/sqlite.ts', 'SqliteStoreOptions'],
  ['new SessionPool(options)', 'src/engine/children/pool.ts', 'SessionPoolOptions'],
  ['Every model provider', 'src/models/reply-bound.ts', 'ReplyBound'],
  [
    'anthropic(options)',
    'src/models/anthropic/client.ts',
    'AnthropicOptions',
    'Besides these, the options of every provider.',
  ],
  [
    'Servers of the OpenAI APIs',
    'src/models/openai/client.ts',
    'ServerOptions',
    'Besides these, the options of every provider.',
  ],
  ['openai(options)', 'src/models/openai.ts', 'OpenAIOptions', 'Besides these, the options of servers.'],
  ['openaiCompatible(options)', 'src/models/openai.ts', 'CompatibleOptions', 'Besides these, the options of servers.'],
  ['scripted(…, options)', 'src/models/scripted.ts', 'ScriptedOptions'],
  ['simulate(options)', 'src/sim/options.ts', 'SimulateOptions'],
  ['simulate({ bounds })', 'src/sim/options.ts', 'Bounds'],
  [
    'sweep(options)',
    'src/sim/sweep.ts',
    'SweepOptions',
    'Besides these, the options of `simulate` without `seed` and `onTrace`.',
  ],
]

/** The page on options, made from their declarations and from the schema of the configuration. */
export function optionsPage(): string {
  return `# Options and defaults

This page is made from the declarations by \`npm run docs\`. A \`?\` marks an option that may be absent. Unknown options are
refused.

${sources.map(section).join('\n\n')}

## Configuration

The keys of configuration files, of \`readConfig\` and of \`agent({ config })\`; programs may write them in camelCase as well.
[Long lives](context.md) explains them.

${table(['Key', 'Value', 'Default'], settingRows(ConfigSchema(), [], ConfigSchema().parse({})))}

## Configuration files

The further keys of configuration files, which chat sessions read. [Configuration](configuration.md) explains them.

${table(['Key', 'Value', 'Meaning'], fileRows())}
`
}

/** The keys that only configuration files have. */
function fileRows(): readonly (readonly string[])[] {
  const known = new Set(settingRows(ConfigSchema(), [], undefined).map(([key]) => key))
  return meaningRows(RuntimeConfigSchema(), [], '').filter(([key]) => !known.has(key))
}

/** A row a setting. The innermost title counts. */
function meaningRows(schema: Schema, path: readonly string[], above: string): readonly (readonly string[])[] {
  const setting = settingKind(schema)
  const meaning = z.globalRegistry.get(schema)?.title ?? above
  if (setting.kind === 'value') return [[`\`${path.join('.')}\``, setting.expected, meaning]]
  if (setting.kind === 'list') return meaningRows(setting.items, [...path, '[]'], meaning)
  if (setting.kind === 'either')
    return [...meaningRows(setting.value, path, meaning), ...meaningRows(setting.section, path, '')]
  if (setting.kind === 'table') return meaningRows(setting.values, [...path, '*'], meaning)
  return Object.entries(setting.settings).flatMap(([name, inner]) => meaningRows(inner, [...path, snakeCase(name)], ''))
}

function section([title, path, name, besides]: (typeof sources)[number]): string {
  const fields = declarationsIn(path).get(name)
  if (fields === undefined) throw new Error(`${path} declares no options ${name}.`)
  const rows = fields.map(({ name: option, type, isOptional, default: value = '', meaning }) => {
    return [`\`${option}\`${isOptional ? '?' : ''}`, `\`${type}\``, value, meaning]
  })
  const from = `[\`${name}\`](../${path})`
  const intro = besides === undefined ? `${from}.` : `${from}. ${besides}`
  return [`## \`${title}\``, intro, table(['Option', 'Type', 'Default', 'Meaning'], rows)].join('\n\n')
}

type Schema = Parameters<typeof settingKind>[0]

/** A row a setting. @param filled what the settings are where none is given */
function settingRows(schema: Schema, path: readonly string[], filled: unknown): readonly (readonly string[])[] {
  const setting = settingKind(schema)
  if (setting.kind === 'value') {
    const value = filled === undefined ? '' : `\`${JSON.stringify(filled)}\``
    return [[`\`${path.join('.')}\``, setting.expected, value]]
  }
  if (setting.kind === 'list') return settingRows(setting.items, [...path, '[]'], undefined)
  if (setting.kind === 'either')
    return [...settingRows(setting.value, path, undefined), ...settingRows(setting.section, path, undefined)]
  if (setting.kind === 'table') return settingRows(setting.values, [...path, '*'], undefined)
  return Object.entries(setting.settings).flatMap(([name, inner]) => {
    return settingRows(inner, [...path, snakeCase(name)], isPlain(filled) ? filled[name] : undefined)
  })
}
