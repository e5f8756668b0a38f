import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { type Approval, approvals } from '../../protocol/policy.ts'
import {
  callback,
  checkOptions,
  environment,
  filledText,
  flag,
  listOf,
  oneOf,
  type ShapesOf,
  table,
  tableOf,
  text,
} from '../../base/option-shapes.ts'
import type { Store } from '../../stores/port.ts'
import type { Tool } from '../../tools/port.ts'
import { type Folders, folders, ownPaths } from '../config/folders.ts'
import { projectContext } from '../config/project-context.ts'
import { readTrustedConfig, type TrustedConfig } from '../config/read-runtime-config.ts'
import { agentConfigOf, policyConfigOf, type RuntimeConfig } from '../config/runtime-config.ts'
import { chooseProvider, wholeModelName } from '../models/choose-provider.ts'
import { defaultLocalModel } from '../models/local-model.ts'
import { builtInProviders } from '../../models/providers.ts'
import { providersOf } from '../models/providers-of.ts'
import { noticesTo } from '../notices.ts'
import { builtinTools } from '../tools/builtin-tools.ts'
import { BackgroundShells } from '../tools/background-shells.ts'
import { FileBackups } from '../tools/file-backups.ts'
import { FileTimes } from '../tools/file-times.ts'
import { withRareToolsDeferred } from '../tools/rarely-used.ts'
import { JsProcesses } from '../tools/js/js-processes.ts'
import { servedSession, sessionServers } from '../mcp/session-feed.ts'
import { beginSandboxFor, confinedSession, openSandbox, placeInSandbox } from '../sandbox/open-sandbox.ts'
import { sessionExtensions, type SessionExtensions } from '../skills/session-extensions.ts'
import type { ChatSession } from './chat-session.ts'
import { type Kept, makeChat, openChat } from './make-chat.ts'
import { SessionFolder, type StoredSession } from './session-folder.ts'
import { type NewSessionOptions, sessionShapes } from './session-options.ts'
import { standardPrompt } from './system-prompt.ts'

/** What a chat session reads of configuration, environment and files where these options say nothing. */
export interface SetupOptions extends Omit<
  NewSessionOptions,
  'config' | 'configFolder' | 'ownPaths' | 'home' | 'key' | 'policy' | 'store' | 'tools'
> {
  /** @default the configuration's, else 'anthropic' */
  readonly provider?: string | undefined
  /** Of the provider; or `provider/model`. @default the configuration's, else the provider's default model */
  readonly model?: string | undefined
  /** Names of built-in tools and of their categories, and tools of your own. @default the configuration's, else ['all'] */
  readonly tools?: readonly (string | Tool)[] | undefined
  /** Over the configuration's: programs run in a sandbox where there is one, or always, or never. @default 'auto' */
  readonly sandbox?: 'auto' | 'require' | 'off' | undefined
  /** Model calls in a turn. @default the configuration's, else 50 */
  readonly maxSteps?: number | undefined
  /** What the policy says of tools, over the configuration. @default {} */
  readonly permissions?: Readonly<Record<string, Approval>> | undefined
  /** The system prompt, without skills and the project's context. @default one for work in a folder */
  readonly system?: string | undefined
  /** Adds `AGENTS.md` of the config folder and of the project's folders to the system prompt. @default true */
  readonly loadProjectContext?: boolean | undefined
  /** Refuses a provider whose key is not set. @default true */
  readonly validateApiKey?: boolean | undefined
  /** Where it is kept; `false`: nowhere. @default a folder of its own in the data folder, with a transcript */
  readonly store?: Store | false | undefined
  /** Where keys and folders are looked up. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Gets what a project's configuration says and does not count. @default a line on stderr each */
  readonly onNotice?: ((notice: string) => unknown) | undefined
}

/** Options of `openSession`. */
export interface OpenOptions extends Omit<SetupOptions, 'channel' | 'history' | 'seed' | 'store'> {
  /** A key, or the beginning of one; `latest`: the last used one of the working folder. */
  readonly key: string
}

/** Options of `listSessions` and `removeSession`. */
export interface StoredSessionsOptions {
  /** Where the data folder is looked up. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** What `sessionSetup` does where neither options nor configuration say anything. */
export const sessionSetupDefaults = Object.freeze({ maxSteps: 50 } as const)

/**
 * Makes a chat session for a working folder: by the user's configuration and the project's, with the built-in tools, and with
 * skills and `AGENTS.md` in its prompt. It is stored, so that `openSession` finds it again.
 *
 * @throws by its promise: `config-invalid` with all problems of the configuration, `conflicting-provider`, `unknown-provider`,
 * `missing-api-key`, `invalid-history`, `invalid-argument`
 */
export async function sessionSetup(options: SetupOptions = {}): Promise<ChatSession> {
  checkOptions('sessionSetup', options, setupShapes)
  const { store } = options
  const place = placeOf(options)
  const { config: settings, isTrustedFolder } = await read(options, place)
  const names = modelOf(options, settings, place)
  const { maxSteps = settings.maxSteps ?? sessionSetupDefaults.maxSteps } = options
  const more = await extensionsOf(options, settings, place)
  const system = await promptOf(options, place, more.text)
  const parts = await shared(more, settings, place)
  const { sandbox } = parts
  const served = { ...options, onNotice: place.onNotice }
  const { feed, permissions } = await sessionServers(served, settings, { ...place, sandbox })
  const kept = keptOf(parts, feed, placeInSandbox(sandbox, settings, isTrustedFolder))
  const made = {
    ...(await sessionOptions({ ...options, permissions }, settings, place, parts)),
    ...names,
    maxSteps,
    system,
  }
  const session =
    store === undefined
      ? makeChat(made, { ...kept, folder: place.sessions })
      : makeChat(store === false ? made : { ...made, store }, kept)
  return confinedSession(servedSession(session, feed), sandbox)
}

/**
 * Opens a stored chat session, as it was left. What options and configuration say of tools and policy counts over what was saved;
 * model, system prompt and steps stay, unless an option names them. Work that was cut off goes on with the first turn, or with
 * `session.start()`.
 *
 * @throws by its promise: `session-in-use`, `unknown-session`, `ambiguous-id`, and what `sessionSetup` throws
 */
export async function openSession(options: OpenOptions): Promise<ChatSession> {
  checkOptions('openSession', options, openShapes)
  const { sessions, cwd } = placeOf(options)
  const key = await sessions.find(options.key, cwd)
  const place = placeOf({ ...options, cwd: options.cwd ?? (await sessions.describe(key))?.cwd })
  const { config: settings, isTrustedFolder } = await read(options, place)
  const isNamed = options.provider !== undefined || options.model !== undefined
  const names = isNamed ? modelOf(options, settings, place) : {}
  const { maxSteps = settings.maxSteps, system } = options
  const parts = await shared(await extensionsOf(options, settings, place), settings, place)
  const { sandbox } = parts
  const served = { ...options, onNotice: place.onNotice }
  const { feed, permissions } = await sessionServers(served, settings, { ...place, sandbox })
  const kept = { ...keptOf(parts, feed, placeInSandbox(sandbox, settings, isTrustedFolder)), folder: sessions }
  const opened = {
    ...(await sessionOptions({ ...options, permissions }, settings, place, parts)),
    ...names,
    maxSteps,
    system,
  }
  const session = confinedSession(servedSession(await openChat(key, opened, kept), feed), sandbox)
  try {
    const { model, provider } = session
    if (!isNamed) modelOf({ ...options, provider, model: `${provider}/${model}` }, settings, place)
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

/** All stored chat sessions, the last used first. */
export async function listSessions(options: StoredSessionsOptions = {}): Promise<readonly StoredSession[]> {
  checkOptions('listSessions', options, storedShapes)
  return placeOf(options).sessions.list()
}

/**
 * Removes a stored chat session and its transcript.
 *
 * @param key whole, or its beginning
 * @throws by its promise: `session-in-use`, `unknown-session`, `ambiguous-id`; `invalid-argument` for a blank key
 */
export async function removeSession(key: string, options: StoredSessionsOptions = {}): Promise<void> {
  checkOptions('removeSession', options, storedShapes)
  const { sessions } = placeOf(options)
  await sessions.remove(await sessions.find(key))
}

/** Where things are. */
interface Place {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  readonly folders: Folders
  readonly sessions: SessionFolder
  readonly onNotice: (notice: string) => void
}

function placeOf({ cwd = '.', env = process.env, onNotice }: Pick<SetupOptions, 'cwd' | 'env' | 'onNotice'>): Place {
  const absolute = resolve(cwd)
  // Empty variables count as unset.
  const home = env['HOME'] || env['USERPROFILE'] || userInfo().homedir
  const found = folders(env, absolute)
  const sessions = new SessionFolder(join(found.data, 'sessions'))
  return { cwd: absolute, home, env, folders: found, sessions, onNotice: noticesTo(onNotice) }
}

async function read(
  { sandbox }: Pick<SetupOptions, 'sandbox'>,
  place: Place,
): Promise<Pick<TrustedConfig, 'config' | 'isTrustedFolder'>> {
  const { cwd, home, onNotice } = place
  const over = sandbox === undefined ? {} : { sandbox }
  const { config, isTrustedFolder, notices } = await readTrustedConfig({ cwd, folders: place.folders, home, over })
  for (const notice of notices) onNotice(notice)
  return { config, isTrustedFolder }
}

/** Provider and model, by the options, the configuration, and what there is by default. The Host's own providers need no key. */
function modelOf(options: SetupOptions, config: RuntimeConfig, { env }: Place) {
  const { model, provider, validateApiKey } = options
  const own = Object.keys(options.host?.models ?? {})
  const asked = provider ?? model?.split('/')[0] ?? config.provider
  if (asked !== undefined && own.includes(asked)) return { model: wholeModelName({ provider, model }, own) }
  return chooseProvider({ provider, model, config, env, validateApiKey })
}

/** Skills and tool packages. */
async function extensionsOf(options: SetupOptions | OpenOptions, config: RuntimeConfig, place: Place) {
  const more = await sessionExtensions(options.tools ?? config.tools ?? ['all'], config, place)
  for (const notice of more.notices) place.onNotice(notice)
  return more
}

async function promptOf(
  { loadProjectContext = true, system }: SetupOptions,
  place: Place,
  skills: string | undefined,
): Promise<string> {
  const { cwd, onNotice } = place
  const base = system ?? standardPrompt(cwd, loadProjectContext)
  const own = skills === undefined ? base : `${base}\n\n${skills}`
  if (!loadProjectContext) return own
  const { notices, text: context } = await projectContext({ cwd, configFolder: place.folders.config })
  for (const notice of notices) onNotice(notice)
  return context === undefined ? own : `${own}\n\n${context}`
}

/** What the tools of a chat session share, and what extends them. */
async function shared(more: SessionExtensions, config: RuntimeConfig, place: Place) {
  const fileTimes = new FileTimes()
  const processes = { js: new JsProcesses(), shells: new BackgroundShells(), sandbox: await openSandbox(config, place) }
  return { fileTimes, backups: new FileBackups(fileTimes), ...processes, more }
}

type ServedFeed = Awaited<ReturnType<typeof sessionServers>>['feed']

/** What a chat session keeps of it, and frees at its end. */
function keptOf({ backups, js, sandbox, shells }: Shared, feed: ServedFeed, sandboxPlace: Kept['sandboxPlace']) {
  const dispose = async (): Promise<void> => {
    await Promise.all([js.close(), shells.close(), feed?.close()])
    await sandbox?.close()
  }
  return { backups, shells, feed, sandboxPlace, dispose }
}

type Shared = Awaited<ReturnType<typeof shared>>

/** What new and reopened chat sessions have in common. */
async function sessionOptions(
  options: SetupOptions | OpenOptions,
  config: RuntimeConfig,
  place: Place,
  { backups, fileTimes, js, sandbox, shells, more: { otherNames: names, tools } }: Shared,
): Promise<NewSessionOptions> {
  const { cwd, env, home } = place
  const { approve, host, modelMap, permissions, planMode, policyFunction, verbose } = options
  const given = options.tools ?? config.tools ?? ['all']
  const { passEnv } = config
  const subagentPreset = options.subagentPreset ?? config.subagents?.defaultPreset
  const rules = policyConfigOf(config)
  const models = { ...builtInProviders(), ...providersOf(config, env), ...host?.models }
  const builtIn =
    names.length === 0
      ? []
      : builtinTools({
          cwd,
          home,
          env,
          tools: names,
          passEnv,
          allowPrivate: config.fetch?.allowPrivate,
          providers: models,
          backups,
          fileTimes,
          js,
          sandbox,
          shells,
          subagentPreset,
        })
  beginSandboxFor(sandbox, builtIn)
  return {
    ...('channel' in options && { channel: options.channel, history: options.history, seed: options.seed }),
    approve,
    modelMap,
    planMode,
    policyFunction,
    verbose,
    tools: [...withRareToolsDeferred(builtIn, names), ...tools, ...given.filter((tool) => typeof tool !== 'string')],
    host: { ...host, models },
    cwd,
    home,
    configFolder: place.folders.config,
    ownPaths: ownPaths(place.folders),
    policy: {
      ...rules,
      permissions: { ...rules.permissions, ...permissions },
      ...(await localModelFor(modelMap?.local, config, env)),
    },
    config: agentConfigOf(config),
    maxRetrievedChars: options.maxRetrievedChars ?? config.workspace?.maxRetrievedChars,
    subagentPreset,
  }
}

/** The model for personal data, where it may go to no other. */
async function localModelFor(
  named: string | undefined,
  { localModels, routing }: RuntimeConfig,
  env: NodeJS.ProcessEnv,
) {
  if (named !== undefined) return { localModel: named }
  if (routing !== 'enforce') return {}
  const found = await defaultLocalModel({ localModels, env })
  return found === null ? {} : { localModel: `ollama/${found}` }
}

const { approve, channel, cwd, history, host, maxSteps, model, modelMap, planMode, policyFunction, provider } =
  sessionShapes
const { maxRetrievedChars, seed, subagentPreset, system, verbose } = sessionShapes

const commonShapes = {
  approve,
  cwd,
  host,
  maxRetrievedChars,
  maxSteps,
  model,
  modelMap,
  planMode,
  policyFunction,
  provider,
  subagentPreset,
  system,
  tools: listOf({ wanted: 'a name or a tool', fits: (value) => text.fits(value) || table.fits(value) }),
  verbose,
  loadProjectContext: flag,
  permissions: tableOf(oneOf(...approvals)),
  sandbox: oneOf('auto', 'require', 'off'),
  validateApiKey: flag,
  env: environment,
  onNotice: callback,
}

const setupShapes: ShapesOf<SetupOptions> = {
  ...commonShapes,
  channel,
  history,
  seed,
  store: { wanted: 'a store, or false', fits: (value) => value === false || sessionShapes.store.fits(value) },
}

const openShapes: ShapesOf<OpenOptions> = { ...commonShapes, key: filledText }

const storedShapes: ShapesOf<StoredSessionsOptions> = { env: environment }
