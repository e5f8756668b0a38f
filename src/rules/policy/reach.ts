import type { Reach } from '../../protocol/policy.ts'
import { liesIn } from './paths.ts'

type Segments = readonly string[]

/** Folders of a call that places are compared with, each as written and as it really lies. */
export interface ReachBase {
  readonly home: readonly Segments[]
  readonly cwd: readonly Segments[]
  readonly code: readonly Segments[]
}

/**
 * Where a path lies, for answers that are remembered. `settings` is what takes effect by itself once it is written: hooks and
 * editor tasks of a project, hidden files and programs of a home folder, the system.
 */
export function reachOf(path: Segments, { home, cwd, code }: ReachBase): Reach | 'settings' {
  const isInProject = cwd.some((folder) => liesIn(path, folder))
  if (isInProject && path.some((name, at) => inProject.test(name) && !harmless.test(path.slice(at).join('/'))))
    return 'settings'
  const hidden = home.filter((folder) => liesIn(path, folder)).map((folder) => path.slice(0, folder.length + 1))
  if (hidden.some((top) => isSetting(top) && !cwd.some((folder) => liesIn(folder, top)))) return 'settings'
  if (isInProject) return 'project'
  if (code.some((folder) => liesIn(path, folder))) return inRepository(path) ? 'settings' : 'code'
  if (hidden.length > 0) return 'other'
  const text = path.join('/')
  if (temporary.test(text)) return 'temporary'
  return ofSystem.test(text) ? 'settings' : 'other'
}

/** Names that have an editor, git or an agent run something or loosen what it may do. */
const inProject =
  /^(?:\.(?:git|hg|husky|githooks|vscode|idea|devcontainer|entia|claude|codex|cursor|gemini|mcp\.json|gitmodules|pre-commit-config\.ya?ml)|lefthook\.ya?ml)$/i
/** What git writes and removes all the time. */
const harmless = /^\.git\/(?:(?:.*\/)?[^/]+\.lock|[A-Z]+_(?:EDIT)?MSG|index)$/i

function inRepository(path: Segments): boolean {
  return path.some((name) => inProject.test(name))
}

/** Is the last name one of a home folder that holds settings or programs? */
function isSetting(top: Segments): boolean {
  const name = top.at(-1) ?? ''
  return /^(?:\.(?!cache$|trash$).|bin$|Library$|AppData$|\p{Co})/iu.test(name)
}

const temporary = /^(?:private\/)?(?:tmp|var\/tmp|var\/folders|dev\/shm)(?:\/|$)/
const ofSystem =
  /^(?:etc|usr|s?bin|lib\d*|opt|boot|root|var|proc|sys|dev|private|Library|System|Applications|nix|snap|[a-z]:\/(?:Windows|Program))(?:\/|$|\b.*)/i
