import type { DataOf, Entity } from '../../world/component.ts'
import type { Policy } from '../../../components/agent/policy.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { Channel } from '../../protocol/policy.ts'
import type { BackgroundShells } from '../tools/background-shells.ts'
import type { ChatTools } from './chat-tools.ts'
import type { Rewinding } from './rewind.ts'
import type { ToolPreset } from '../../rules/delegation/declarations.ts'
import type { ToolFeed } from './tool-feed.ts'

/** What a chat session is made of. */
export interface ChatSessionParts {
  readonly runner: Runner
  readonly agent: Entity
  readonly channel: Channel
  readonly cwd?: string | undefined
  readonly chatTools: ChatTools
  /** What the policy of its agent is made of, if the agent has none yet. */
  readonly policy?: (() => DataOf<() => typeof Policy.schema>) | undefined
  readonly rewinding: Rewinding
  /** Tools of subagents for which none are named. */
  readonly subagentPreset?: ToolPreset | undefined
  readonly shells?: BackgroundShells | undefined
  /** Called once before the Runner starts, such as to open the transcript. */
  readonly begin?: (() => void) | undefined
  /** Tools that come and go. */
  readonly feed?: ToolFeed | undefined
  /** Frees what the chat session has opened, such as its child processes. */
  readonly dispose?: (() => Promise<void>) | undefined
}
