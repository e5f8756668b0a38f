import {
  agent,
  Conversation,
  defineComponent,
  type EffectKind,
  run,
  scripted,
  standardSystems,
  type System,
  textOf,
  user,
  VirtualClock,
  World,
} from 'entia'
import { Effect, Outcome, Pending } from 'entia/components'
import { z } from 'zod'

// What takes time is an effect: a system asks for it as data, the Runner does it once that is committed, and its outcome
// comes back as data. Here: a reminder that waits for hours and outlasts restarts.

/** Something to be said to an agent at a world time. The reference is kept: the reminder goes with its agent. */
const Reminder = defineComponent(
  'Reminder',
  z.strictObject({ agent: z.int().positive(), atMs: z.number(), text: z.string() }),
  { ref: 'agent', cascade: true },
)

/** How it is done: the part that is no data, on the host. `prepare` reads the world, the work behind it waits. */
const reminder: EffectKind = {
  prepare(world, effect) {
    const waitMs = world.read(effect, Reminder).atMs - world.nowMs
    return async ({ sleep }) => {
      await sleep(Math.max(waitMs, 0))
      return { ok: true, value: null }
    }
  },
}

/** Says what is due: a message like a person's, which the agent answers. */
const reminding: System = {
  name: 'reminding',
  // Behind `settlement` (-100), which puts outcomes there, and before `reasoning` (0), which answers messages.
  priority: -50,
  run(world) {
    for (const effect of world.query(Reminder, Outcome)) {
      const { agent: sleeper, text } = world.read(effect, Reminder)
      world.append(sleeper, Conversation, user(text))
      world.despawn(effect)
    }
  },
}

const gardener = scripted(({ messages }) => `Watered. (${textOf(messages.at(-1))})`)
const world = new World({ systems: [...standardSystems(), reminding] })
const plants = world.spawn(...agent({ model: 'script/gardener' }))

for (const hours of [6, 12]) {
  world.spawn(
    Reminder({ agent: plants, atMs: hours * 3_600_000, text: `It is ${hours} o'clock.` }),
    // `pure`: after a restart it is begun again, and waits for what is left.
    Effect({ kind: 'reminder', restart: 'pure', attempt: 1 }),
    Pending,
  )
}

await run(world, { models: { script: gardener }, effects: { reminder }, clock: new VirtualClock() })

for (const message of world.read(plants, Conversation)) console.log(`${message.role}: ${textOf(message)}`)
console.log(`${world.nowMs / 3_600_000} hours have passed.`)

/*
Prints:
user: It is 6 o'clock.
assistant: Watered. (It is 6 o'clock.)
user: It is 12 o'clock.
assistant: Watered. (It is 12 o'clock.)
12 hours have passed.
*/
