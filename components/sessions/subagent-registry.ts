import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { GrantLimits, InheritancePolicy } from '../../src/protocol/delegation.ts'
import { givenName } from '../../src/protocol/values.ts'
import { RetryPolicy } from '../../src/protocol/failure.ts'

const maxSteps = lazily(() => z.number().int().min(1).optional())

/** A registered subagent. */
export const SubagentConfig = lazily(() =>
  z.strictObject({
    /** Shown to the model beside the name. @default '' */
    description: z.string().optional(),
    inheritancePolicy: InheritancePolicy().optional(),
    limits: GrantLimits().optional(),
    /** Model calls, each counted once with its retries. @default 10 */
    maxSteps: maxSteps(),
    /** `provider/model`. @default the parent's */
    model: givenName().optional(),
    name: givenName()
      .refine((name) => name === name.trim(), 'expected no blanks around it')
      .refine((name) => name !== 'fork', "'fork' is the name of forks"),
    /** `false`: none. @default the provider's, or the standard policy */
    retry: z.union([RetryPolicy(), z.literal(false)]).optional(),
    skills: z.array(z.string().min(1)).optional(),
    /** A template, as in `SystemPrompt`. @default '' */
    systemPrompt: z.string().optional(),
    /** Host tools; allowed even where its parent is denied them. @default none */
    tools: z.array(z.string().min(1)).optional(),
  }),
)
export type SubagentConfig = DataOf<typeof SubagentConfig>

/** By name. Zod's records skip the key `__proto__`, so its config is checked here. */
const subagentConfigs = lazily(() =>
  z
    .custom<Readonly<Record<string, SubagentConfig>>>(hasValidProto, "the config of '__proto__' is not valid")
    .pipe(z.record(z.string(), SubagentConfig()))
    .refine(
      (configs) => Object.entries(configs).every(([key, { name }]) => key === name),
      'a subagent stands under its own name',
    ),
)

function hasValidProto(configs: unknown): boolean {
  if (typeof configs !== 'object' || configs === null || !Object.hasOwn(configs, '__proto__')) return true
  const config = SubagentConfig().safeParse((configs as Readonly<Record<string, unknown>>)['__proto__'])
  return config.success && config.data.name === '__proto__'
}

/** Delegation to unregistered names. */
export const FreeForm = lazily(() =>
  z.strictObject({
    /** @default false */
    enabled: z.boolean().optional(),
    inheritancePolicy: InheritancePolicy().optional(),
    /** @default 10 */
    maxSteps: maxSteps(),
    skills: z.array(z.string().min(1)).optional(),
    /** `{name}` becomes the requested name. @default a built-in text */
    systemPromptTemplate: z.string().optional(),
  }),
)
export type FreeForm = DataOf<typeof FreeForm>

const ForkSettings = lazily(() =>
  z.strictObject({
    /** A subset of its parent's. @default all of these */
    allowedTools: z.array(z.string()).optional(),
    /** @default true */
    enabled: z.boolean().optional(),
    /** @default 200 */
    maxSteps: maxSteps(),
  }),
)

/** Grants the `subagent` tools. Wrong values throw `invalid-argument`. */
export const SubagentRegistry = defineComponent(
  'SubagentRegistry',
  () =>
    z.strictObject({
      /** Used without a category; absent or unregistered: a fork. */
      defaultCategory: z.string().optional(),
      fork: ForkSettings().optional(),
      freeForm: FreeForm().optional(),
      /**
       * Skills that bring their tools when a model loads them; others bring only tools that the agent may run.
       * Denied tools stay denied; skills named by a config or a program bring all tools. @default none
       */
      loadableSkills: z.array(z.string().min(1)).optional(),
      subagents: subagentConfigs(),
      /** Wake an idle agent when a session ends. @default true */
      wakeIdle: z.boolean().optional(),
    }),
  { refusedWith: 'invalid-argument' },
)
export type SubagentRegistryData = z.infer<typeof SubagentRegistry.schema>

export const subagentDefaults = { forkMaxSteps: 200, maxSteps: 10, wakeIdle: true } as const
