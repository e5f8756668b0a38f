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
import { lazily } from '../../world/lazily.ts'

/** Longest time-out: more than thirty thousand years, and in milliseconds still a number that is exact. */
const maxTimeoutSeconds = 1e12
/** Dearest price of a million tokens: a dollar a token. What costs more overflows where sums are kept. */
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

/** A folder that is the same wherever a program is started. */
const absoluteFolder = /^(?:~?[\\/]|~$|[A-Za-z]:[\\/])/

/** The configuration, keys in camelCase. A key that is added here is known everywhere. */
export const ConfigSchema = lazily(() =>
  z.strictObject({
    /** What comes of a tool call that a person may want to be asked about. Absent: they are asked. */
    approvalMode: oneOf('allow', 'ask', 'deny').optional(),
    archival: ArchivalSection().prefault({}),
    ceilings: CeilingSettings().prefault({}),
    context: ContextSection().prefault({}),
    /** `provider/model`, or a provider alone for its usual model. Absent: the task class's, or else the program's choice. */
    model: modelName().optional(),
    subagents: z.strictObject({ enabled: flag().default(false) }).prefault({}),
    /** Folders whose own configuration may say more than that less is allowed. Only a person's own file can name them. */
    trustedFolders: z
      .array(z.string().regex(absoluteFolder))
      .describe('a list of folders, each absolute or beginning with ~/')
      .optional(),
  }),
)
