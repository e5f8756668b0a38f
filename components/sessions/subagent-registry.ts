import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/world/lazily.ts'
import { GrantLimits, InheritancePolicy } from '../../src/protocol/delegation.ts'
import { RetryPolicy } from '../../src/protocol/failure.ts'

const maxSteps = lazily(() => z.number().int().min(1).optional())

/** A subagent that can be asked for by name. */
export const SubagentConfig = lazily(() =>
  z.strictObject({
    /** Shown to the model beside the name. @default '' */
    description: z.string().optional(),
    inheritancePolicy: InheritancePolicy().optional(),
    limits: GrantLimits().optional(),
    /** Model calls that a session may make; tries of the same call count once. @default 10 */
    maxSteps: maxSteps(),
    /** `provider/model`. @default the parent's */
    model: z.string().min(1).optional(),
    /** Its key in the registry. */
    name: z
      .string()
      .min(1)
      .refine((name) => name === name.trim(), 'expected no blanks around it')
      .refine((name) => name !== 'fork', "'fork' is the name of forks"),
    /** `false`: none. @default the provider's own, or else the standard policy */
    retry: z.union([RetryPolicy(), z.literal(false)]).optional(),
    /** Skills to install, by name. @default none */
    skills: z.array(z.string().min(1)).optional(),
    /** A template, as in `SystemPrompt`. @default '' */
    systemPrompt: z.string().optional(),
    /** Tools of the Host, by name. It may run them, also where they are denied to its parent. @default none */
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

/** How an agent delegates to names that are not registered. */
export const FreeForm = lazily(() =>
  z.strictObject({
    /** @default false */
    enabled: z.boolean().optional(),
    inheritancePolicy: InheritancePolicy().optional(),
    /** @default 10 */
    maxSteps: maxSteps(),
    skills: z.array(z.string().min(1)).optional(),
    /** Every `{name}` in it stands for the name asked for. @default a text of Entia's own */
    systemPromptTemplate: z.string().optional(),
  }),
)
export type FreeForm = DataOf<typeof FreeForm>

/** How an agent forks. */
const ForkSettings = lazily(() =>
  z.strictObject({
    /** Tools that a fork may run, of those that its parent may run. @default all of these */
    allowedTools: z.array(z.string()).optional(),
    /** @default true */
    enabled: z.boolean().optional(),
    /** @default 200 */
    maxSteps: maxSteps(),
  }),
)

/** Whom an agent may delegate to. An agent that has one gets the `subagent` tools. A wrong one is refused with `invalid-argument`. */
export const SubagentRegistry = defineComponent(
  'SubagentRegistry',
  () =>
    z.strictObject({
      /** What an asking without a category means; absent or not registered: a fork. */
      defaultCategory: z.string().optional(),
      fork: ForkSettings().optional(),
      freeForm: FreeForm().optional(),
      /**
       * Skills whose tools come along when a model names the skill in `load_skills`, whatever the agent itself may run; what
       * is denied stays denied. Of other skills such a subagent gets the prompt, and the tools that the agent may run. Skills
       * that a config or a program names bring all their tools. @default none
       */
      loadableSkills: z.array(z.string().min(1)).optional(),
      subagents: subagentConfigs(),
      /** A session that ends wakes the agent when its turn is over. @default true */
      wakeIdle: z.boolean().optional(),
    }),
  { refusedWith: 'invalid-argument' },
)
export type SubagentRegistryData = z.infer<typeof SubagentRegistry.schema>

/** What holds where a registry says nothing. */
export const subagentDefaults = { forkMaxSteps: 200, maxSteps: 10, wakeIdle: true } as const
