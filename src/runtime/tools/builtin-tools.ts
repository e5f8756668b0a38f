import { z } from 'zod'
import { EntiaError } from '../../base/entia-error.ts'
import { didYouMean } from '../../base/near-names.ts'
import { environment } from '../../base/option-shapes.ts'
import { listFilesTool, type Reach, readFileTool } from '../../tools/file-tools.ts'
import type { Tool } from '../../tools/port.ts'
import type { ModelProvider } from '../../models/port.ts'
import { builtInProviders } from '../../models/providers.ts'
import { type ToolPreset, toolPresets } from '../../rules/delegation/declarations.ts'
import { schemaIssues } from '../../rules/text/schema-issues.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { shellTool } from './bash.ts'
import { chatModelsTool, chatTool } from './chat-tools.ts'
import { BackgroundShells } from './background-shells.ts'
import { bareEnvironment, childEnvironment } from './child-environment.ts'
import { fetchUrlTool } from './fetch-url.ts'
import { FileBackups } from './file-backups.ts'
import { withFileFacts } from './file-facts.ts'
import { FileTimes } from './file-times.ts'
import { gitDiffTool } from './git-diff.ts'
import { gitLogTool } from './git-log.ts'
import { gitStatusTool } from './git-status.ts'
import { grepFilesTool } from './grep-files.ts'
import { installedPackagesTool } from './js/installed-packages.ts'
import { jsHelpTool } from './js/js-help.ts'
import { JsProcesses } from './js/js-processes.ts'
import { leanTool } from './lean-tool.ts'
import { runJsTool } from './js/run-js.ts'
import { replaceInFileTool } from './replace-in-file.ts'
import { readHandleTool } from './read-handle.ts'
import type { ToolSettings } from './settings.ts'
import { shellOutputTool, shellStopTool } from './shell-tools.ts'
import { subagentTools } from './subagent-tools.ts'
import { withJudgedPlaces } from './judged-places.ts'
import { webSearchTool } from './web-search.ts'
import { writeFileTool } from './write-file.ts'

/** Options of `builtinTools`. */
export interface BuiltinToolsOptions {
  /** The working folder: relative paths count from here. A relative one counts from that of the process. */
  readonly cwd: string
  /** Names of tools and categories. @default ['all'] */
  readonly tools?: readonly string[] | undefined
  /** What `~` stands for. @default the user's home folder */
  readonly home?: string | undefined
  /** Which versions of files were read: one object a chat session. @default a new one */
  readonly fileTimes?: FileTimes | undefined
  /** Keeps what files had in them before tools wrote them, for `session.rewind`. @default nothing is kept */
  readonly backups?: FileBackups | undefined
  /** The processes of `run_js`; who closes this object ends them. @default a new one, whose processes end with the program */
  readonly js?: JsProcesses | undefined
  /** Shells that `bash` leaves running; who closes this object ends them. @default a new one, whose shells end with the program */
  readonly shells?: BackgroundShells | undefined
  /** Where `bash` and `run_js` run programs. @default nowhere but with the rights of this process */
  readonly sandbox?: Sandbox | undefined
  /** Environment of child processes, before secrets are taken out. @default that of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Variables that child processes get although their names look like secrets. @default [] */
  readonly passEnv?: readonly string[] | undefined
  /** `host:port` of servers that `fetch_url` may reach although their address is private. @default [] */
  readonly allowPrivate?: readonly string[] | undefined
  /** Providers whose models `chat_models` lists, as the Host has them. @default anthropic, openai, ollama and moonshot */
  readonly providers?: Readonly<Record<string, ModelProvider>> | undefined
  /** Tools of a subagent for which the model names none. @default 'investigate' */
  readonly subagentPreset?: ToolPreset | undefined
  /** Where `web_search` asks. @default 'https://api.tavily.com' */
  readonly tavilyBaseUrl?: string | undefined
}

const optionsSchema = () =>
  z.strictObject({
    cwd: z.string().min(1),
    tools: z.array(z.string()).optional(),
    home: z.string().min(1).optional(),
    fileTimes: z.instanceof(FileTimes).optional(),
    backups: z.instanceof(FileBackups).optional(),
    js: z.instanceof(JsProcesses).optional(),
    shells: z.instanceof(BackgroundShells).optional(),
    sandbox: z.custom<Sandbox>(isSandbox, 'expected a sandbox').optional(),
    // The environment of a process is no plain object.
    env: z.custom<NodeJS.ProcessEnv>(environment.fits, `expected ${environment.wanted}`).optional(),
    passEnv: z.array(z.string()).optional(),
    allowPrivate: z.array(z.string().regex(/:\d+$/, 'expected host:port')).optional(),
    providers: z.record(z.string(), z.custom<ModelProvider>(isProvider, 'expected a model provider')).optional(),
    subagentPreset: z.enum(Object.keys(toolPresets) as [ToolPreset]).optional(),
    tavilyBaseUrl: z.url({ protocol: /^https?$/ }).optional(),
  })

function isProvider(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'call' in value && typeof value.call === 'function'
}

function isSandbox(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'confined' in value && typeof value.confined === 'function'
}

/** Processes that outlive a call. */
interface Processes {
  readonly js: JsProcesses
  readonly shells: BackgroundShells
}

/** Each category with its tools, in the order in which models read them. Those without tools have none yet. */
const categories: Readonly<
  Record<string, readonly ((settings: ToolSettings, reach: Reach, own: Processes) => Tool)[]>
> = {
  file: [
    (_, reach) => readFileTool(reach, { category: 'file', operation: 'read', paths: ['path'] }),
    writeFileTool,
    replaceInFileTool,
    (_, reach) => listFilesTool(reach, { category: 'file', operation: 'read', paths: ['path'] }),
    grepFilesTool,
  ],
  code: [
    (settings, _, { shells }) => shellTool(settings, shells),
    (_, __, { shells }) => shellOutputTool(shells),
    (_, __, { shells }) => shellStopTool(shells),
  ],
  git: [gitStatusTool, gitDiffTool, gitLogTool],
  js: [(settings, _, { js }) => runJsTool(settings, js), jsHelpTool, installedPackagesTool],
  data: [readHandleTool],
  web: [webSearchTool, fetchUrlTool],
  chat: [chatTool, chatModelsTool],
  memory: [],
  subagent: subagentTools,
  skill: [],
}

/** Names that stand for several categories. */
const groups: Readonly<Record<string, readonly string[]>> = {
  core: ['file', 'code', 'git'],
  all: Object.keys(categories),
}

/**
 * The tools that come with the runtime, for the files, the shell, the repository and the web of a user. They can reach the whole
 * disk: a policy decides about each call by what the tool declares (`operation`, `paths`, `category`).
 *
 * @throws `invalid-argument` for wrong options, and for a name that is no tool and no category
 */
export function builtinTools(options: BuiltinToolsOptions): Tool[] {
  const checked = optionsSchema().safeParse(options)
  if (!checked.success) {
    throw new EntiaError('invalid-argument', `builtinTools: ${schemaIssues(checked.error)}.`)
  }
  const settings = settingsOf(options)
  const own = { js: options.js ?? new JsProcesses(), shells: options.shells ?? new BackgroundShells() }
  const reach = async () => new (await import('./whole-disk.ts')).WholeDisk(settings)
  const all = Object.entries(categories).flatMap(([category, makers]) =>
    makers.map((make) => ({ category, tool: make(settings, reach, own) })),
  )
  const known = [...all.map(({ tool }) => tool.declaration.name), ...Object.keys(categories), ...Object.keys(groups)]
  const granted = new Set<string>()
  for (const name of options.tools ?? ['all']) {
    if (!known.includes(name)) {
      const hint = didYouMean(name, known) || ` There are ${known.join(', ')}.`
      throw new EntiaError('invalid-argument', `builtinTools: there is no tool or category '${name}'.${hint}`, { name })
    }
    for (const one of groups[name] ?? [name]) granted.add(one)
  }
  const isUsable = (name: string) => name !== 'web_search' || settings.tavily.apiKey() !== undefined
  return all
    .filter(
      ({ category, tool: { declaration } }) =>
        // One that is named itself is there without its key, and says what is missing.
        granted.has(declaration.name) || (granted.has(category) && isUsable(declaration.name)),
    )
    .map(({ tool }) => leanTool(withOwnFacts(tool, settings)))
}

/** A tool that runs programs or names paths. */
function withOwnFacts(tool: Tool, settings: ToolSettings): Tool {
  const { operation, paths = [] } = tool.declaration
  const judged = paths.length === 0 ? tool : withJudgedPlaces(tool)
  return operation === 'exec' || paths.length > 0 ? withFileFacts(judged, settings) : judged
}

/** Names of all tools, of categories and of what stands for several of them. */
export function builtinNames(): ReadonlySet<string> {
  const tools = builtinTools({ cwd: '.', tools: ['all', 'web_search'] }).map(({ declaration }) => declaration.name)
  // Which of the two there is depends on the system.
  return new Set([...tools, 'bash', 'cmd', ...Object.keys(categories), ...Object.keys(groups)])
}

function settingsOf(options: BuiltinToolsOptions): ToolSettings {
  const {
    cwd,
    home,
    backups,
    fileTimes = new FileTimes(),
    sandbox,
    env,
    passEnv = [],
    allowPrivate = [],
    providers,
    subagentPreset = 'investigate',
    tavilyBaseUrl,
  } = options
  return {
    cwd: process.getBuiltinModule('node:path').resolve(cwd),
    home: home ?? process.getBuiltinModule('node:os').homedir(),
    fileTimes,
    backups: backups ?? new FileBackups(fileTimes),
    sandbox,
    environment: () => childEnvironment(env ?? process.env, passEnv),
    bareEnvironment: () => bareEnvironment(env ?? process.env, passEnv),
    allowPrivate,
    subagentPreset,
    providers: () => providers ?? builtInProviders(),
    tavily: {
      baseUrl: (tavilyBaseUrl ?? 'https://api.tavily.com').replace(/\/$/, ''),
      apiKey: () => (env ?? process.env)['TAVILY_API_KEY']?.trim() || undefined,
    },
  }
}
