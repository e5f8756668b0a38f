import { agent, Conversation, Limits, scripted, standardSystems, textOf, World } from 'entia'
import { SubagentSession } from 'entia/components'
import { builtinTools } from 'entia/runtime'
import { law, type SimulateOptions, standardLaws } from 'entia/sim'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'
import { look } from './team.ts'

const tools = [look, ...builtinTools({ cwd: '.', tools: ['subagent'] })]

const grantsHold = law('a worker has the tools that it was given, and no others', {
  finished: ({ worlds }) =>
    [...worlds.values()].every(({ world }) =>
      world.query(Conversation).every((speaker) => {
        const messages = world.read(speaker, Conversation)
        const isBlind = textOf(messages[0]) === 'blind'
        const looked = messages.filter((each) => each.role === 'tool' && each.name === 'look' && each.isError !== true)
        return !isBlind || looked.length === 0
      }),
    ),
})

const oneReplyEach = law('a question that was answered has the answer to it, and no other', {
  finished: ({ worlds }) =>
    [...worlds.values()].every(({ world }) =>
      world.query(Conversation).every((speaker) => {
        const messages = world.read(speaker, Conversation)
        const asked = messages.flatMap((each) =>
          each.role === 'assistant' ? each.content.filter((block) => block.type === 'tool-call') : [],
        )
        return messages.every((each) => {
          if (each.role !== 'tool' || each.name !== 'query_subagent' || each.isError === true) return true
          const { prompt } = asked.find(({ id }) => id === each.callId)?.arguments ?? {}
          return textOf(each).includes(`Re: ${JSON.stringify(prompt).slice(1, -1)}`)
        })
      }),
    ),
})

const endedStaysEnded = law('a worker that was ended for good is not asked any more', {
  ticked: ({ world }) =>
    world.query(SubagentSession).every((session) => {
      const { closed, status } = world.read(session, SubagentSession)
      return closed !== true || status !== 'running'
    }),
})

/** An agent that launches workers with its built-in tools, collects what they find, asks them further, and ends them. */
export default {
  tools: () => tools,
  maxSessions: 2,
  models: {
    // Workers have the model of the one who launches them.
    lead: scripted((request) => {
      if (request.tools.every(({ name }) => name !== 'spawn_subagent')) {
        // A task or a question is one word; what the world says besides is not.
        const said = request.messages.filter(({ role }) => role === 'user').map((message) => textOf(message))
        const asked = said.findLast((text) => !text.includes(' ')) ?? ''
        // The blind one tries all the same.
        return spoken(request) === 0 ? calls(['look', { at: asked }]) : `Re: ${asked}`
      }
      switch (spoken(request)) {
        case 0:
          return calls(
            ['spawn_subagent', { task: 'seeing', tools: ['look'] }],
            ['spawn_subagent', { task: 'blind', tools: [] }],
            ['spawn_subagent', { task: 'slow', tools: ['look'] }],
          )
        case 1:
          return calls(['collect_subagent', { id: '1' }], ['kill_subagent', { id: '3' }], ['list_subagents', {}])
        case 2:
          return calls(['query_subagent', { id: '1', prompt: 'why' }], ['query_subagent', { id: '2', prompt: 'how' }])
        case 3:
          return calls(['query_subagent', { id: '1', prompt: 'when' }], ['kill_subagent', { id: '2' }])
        case 4:
          return calls(['query_subagent', { id: '2', prompt: 'where' }], ['collect_subagent', { id: '1', timeout: 0 }])
        default:
          return 'Done.'
      }
    }),
  },
  world(seed) {
    const world = new World({ name: 'foremen', seed, systems: standardSystems() })
    world.spawn(...agent({ model: 'lead/x', tools, messages: 'Go' }), Limits({ maxSteps: 30 }))
    return world
  },
  faults: everyFault,
  laws: [...standardLaws, grantsHold, oneReplyEach, endedStaysEnded],
} satisfies SimulateOptions
