import { z } from 'zod'
import {
  archivalMaxListed,
  archivalPlacement,
  ArchivalSummary,
  ArchivalTrigger,
} from '../../../components/context/archival.ts'
import { CeilingSettings } from '../../../components/money/ceilings.ts'
import {
  Agentic,
  Checkpoint,
  Compaction,
  taskClass,
  watchdogMode,
  watchdogThreshold,
} from '../../../components/context/context.ts'
import { flag, modelName, oneOf, positive, whole } from '../../protocol/setting.ts'
import { ModelsByTier, TierTable } from '../../protocol/tier.ts'
import { lazily } from '../../base/lazily.ts'

/** Longest timeout: in milliseconds it is still an exact number. */
const maxTimeoutSeconds = 1e12
/** Highest price of a million tokens, a dollar a token: sums of higher ones overflow. */
const maxUsdPerMillion = 1e6

const usdPerMillion = () =>
  z.number().min(0).max(maxUsdPerMillion).describe(`a number from 0 to ${maxUsdPerMillion}`).optional()

const ArchivalSection = lazily(() =>
  z.strictObject({
    enabled: flag().default(false),
    maxListed: archivalMaxListed(),
    placement: archivalPlacement(),
    summary: ArchivalSummary()
      .omit({ timeoutMs: true })
      .extend({ timeoutSeconds: positive(maxTimeoutSeconds).default(60) })
      .prefault({}),
    trigger: ArchivalTrigger().prefault({}),
  }),
)

const Prices = lazily(() =>
  z.record(
    z.string().min(1).describe("a model's name"),
    z.strictObject({
      cacheRead: usdPerMillion(),
      cacheWrite: usdPerMillion(),
      /** Of writes that last an hour. */
      cacheWrite1h: usdPerMillion(),
      /** In tokens. */
      contextWindow: whole(1).optional(),
      input: usdPerMillion(),
      output: usdPerMillion(),
    }),
  ),
)

const ContextSection = lazily(() =>
  z.strictObject({
    agentic: Agentic().prefault({}),
    checkpoint: Checkpoint().prefault({}),
    compaction: Compaction()
      .omit({ timeoutMs: true })
      .extend({ timeoutSeconds: positive(maxTimeoutSeconds).default(120) })
      .prefault({}),
    modelsByTier: ModelsByTier().prefault({}),
    prices: Prices().prefault({}),
    smallTierParent: oneOf('warn', 'refuse', 'allow').default('warn'),
    taskClass: taskClass(),
    tiers: TierTable().prefault({}),
    watchdog: watchdogMode(),
    watchdogThreshold: watchdogThreshold(),
  }),
)

const absoluteFolder = /^(?:~?[\\/]|~$|[A-Za-z]:[\\/])/

/** The configuration, keys in camelCase. */
export const ConfigSchema = lazily(() =>
  z.strictObject({
    /** How tool calls that need an approval are answered. Absent: the user is asked. */
    approvalMode: oneOf('allow', 'ask', 'deny').optional(),
    archival: ArchivalSection().prefault({}),
    ceilings: CeilingSettings().prefault({}),
    context: ContextSection().prefault({}),
    /** `provider/model`, or a provider for its default model. Absent: the task class's model, else the program's. */
    model: modelName().optional(),
    subagents: z.strictObject({ enabled: flag().default(false) }).prefault({}),
    /** Folders whose configuration may also loosen permissions. Only the user's own file can name them. */
    trustedFolders: z
      .array(z.string().regex(absoluteFolder))
      .describe('a list of folders, each absolute or beginning with ~/')
      .optional(),
  }),
)
