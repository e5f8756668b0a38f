import { describe, expect, it } from 'vitest'
import {
  person,
  assertLawful,
  law,
  simulatedUser,
  type UserBehaviour,
  service,
  simulate,
  sweep,
  timelinePage,
} from '../../src/sim/index.ts'
import { smallTeam, teamWorld } from './small-team.ts'

/** What plain JavaScript passes, where nobody looks at types. */
function untyped(given: unknown): never {
  return given as never
}

describe('an option', () => {
  it.for([
    [{ models: { lead: 3 } }, 'models must be providers by name, such as { script: scripted(…) }, got { lead: 3 }.'],
    [{ models: null }, 'got null.'],
    [
      { tools: {} },
      'tools must be a list of tools as defineTool() makes them, or a function that gives one, got an object.',
    ],
    [{ tools: () => [7] }, 'tools must be a function that gives a list of tools as defineTool() makes them, got [7].'],
    [{ skills: 'all' }, 'skills must be a list of skills, got "all".'],
    [
      { effects: { mail: 3 } },
      'effects must be kinds of effects by name, each with a function prepare, got { mail: 3 }.',
    ],
    [{ prices: 3 }, 'prices must be prices by model, got 3.'],
    [{ services: { post: 3 } }, 'services must be services by name, as service() makes them, got { post: 3 }.'],
    [
      { users: { ann: () => undefined } },
      'users must be users by name, as simulatedUser() makes them, got { ann: a function }.',
    ],
    [{ components: 3 }, 'components must be a list or a module of components, got 3.'],
    [
      { laws: [() => true] },
      'laws must be a list of laws, such as [...standardLaws, law(name, check)], got [a function].',
    ],
    [{ faults: 'crash' }, 'or a list of faults, got "crash".'],
    [
      { latencyMs: { model: 5 } },
      'latencyMs must be ranges for model and tool, such as { tool: [1, 400] }, got { model: 5 }.',
    ],
    [{ maxSessions: 0 }, 'maxSessions must be an integer ≥ 1, got 0.'],
    [{ maxInFlight: 1.5 }, 'maxInFlight must be an integer ≥ 1, or Infinity, got 1.5.'],
    [{ sessionPool: 3 }, 'sessionPool must be a function that makes a SessionPool, got 3.'],
    [
      { store: {} },
      "store must be a function that makes a store, such as () => memoryStore(), or 'none', got an object.",
    ],
    [{ bounds: null }, 'bounds must be bounds by name, such as { maxTicks: 1000 }, got null.'],
    [{ realUse: 'ignore' }, `realUse must be 'refuse' or 'list', got "ignore".`],
    [{ recording: 'run.jsonl' }, 'recording must be what loadRecording(file) gives, got "run.jsonl".'],
    [{ onMiss: 'stop' }, `onMiss must be 'fail' or 'script', got "stop".`],
    [{ onTrace: true }, 'onTrace must be a function that is given lines, got true.'],
  ] as const)('of the wrong kind is refused by name: %j', async ([wrong, message]) => {
    const options = { ...smallTeam, ...(wrong as object) }
    await expect(simulate(options)).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(simulate(options)).rejects.toThrow(message)
    await expect(sweep({ ...options, seeds: 1 })).rejects.toThrow(message)
  })

  it('that makes something makes what can be used', async () => {
    const noStore = { ...smallTeam, store: () => untyped({}) }
    await expect(simulate(noStore)).rejects.toThrow(
      "a function that makes a store, such as () => memoryStore(), or 'none', which has",
    )
    const { violation } = await simulate({ ...smallTeam, sessionPool: () => untyped(3) })
    expect(violation?.message).toContain('a function that makes a SessionPool, which has enter(), got 3.')
  })

  it('is one of an object', async () => {
    for (const nothing of [undefined, null, []]) {
      await expect(simulate(untyped(nothing))).rejects.toThrow(
        'simulate() takes options, { world: (seed) => World, … }',
      )
      await expect(sweep(untyped(nothing))).rejects.toThrow('sweep() takes options')
    }
  })
})

describe('a list of faults', () => {
  it.for([
    [null, "a fault is { what: 'tool.throws', at: 'team tool 3' }, got null."],
    ['model.hang', 'got "model.hang".'],
    [{ what: 'toString.call', at: 'team tool 1' }, "there is no 'toString.call'"],
    [
      { what: 'tool.slow', at: 'team tool 1', ms: -5 },
      'ms of tool.slow at team tool 1 must be a whole number of milliseconds',
    ],
    [{ what: 'tool.slow', at: 'team tool 1', forMs: 5 }, 'unknown option forMs. Known: what, at, ms'],
  ])('that holds %j is refused', async ([fault, message]) => {
    await expect(simulate({ ...smallTeam, faults: untyped([fault]) })).rejects.toThrow(untyped(message))
  })
})

describe('probabilities of faults', () => {
  it('go by name, at each site', async () => {
    const message = 'faults: tool has probabilities by name, such as { throws: 0.1 }, got 0.3.'
    await expect(simulate({ ...smallTeam, faults: untyped({ tool: 0.3 }) })).rejects.toThrow(message)
  })
})

describe('a function that makes worlds', () => {
  it('and gives something else is refused with what it gave', async () => {
    for (const [made, came] of [
      [undefined, 'undefined'],
      ['team', '"team"'],
      [Promise.resolve(teamWorld(1)), 'a promise'],
    ] as const) {
      const message = `'world' is a function that makes a World; it made ${came}.`
      await expect(simulate({ ...smallTeam, world: () => untyped(made) })).rejects.toThrow(message)
    }
  })

  it('and gives the same one twice is refused: its run is over, and would keep every law', async () => {
    const world = teamWorld(1)
    const message = "'world' gave the World 'team' a second time"
    await expect(sweep({ ...smallTeam, world: () => world, seeds: 2 })).rejects.toThrow(message)
  })
})

describe('a simulated user', () => {
  const withAnn = (behaviour: UserBehaviour) => ({ ...smallTeam, users: { ann: simulatedUser(behaviour) } })

  it('that throws breaks the run, which says who it was and what was thrown', async () => {
    const { violation, ticks } = await simulate(
      withAnn(() => {
        throw new Error('Ann is ill')
      }),
    )
    expect(violation).toMatchObject({ law: 'users-act', message: "user 'ann' threw: Ann is ill", world: 'team' })
    expect(ticks).toBe(1)
  })

  it.for([
    ['hello', 'gave "hello"; expected nothing, or any of { approve }, { say }'],
    [{ shout: 'hello' }, 'gave { shout: "hello" }; expected'],
    [{ say: 5 }, 'gave { say: 5 }; expected'],
    [[{ say: 'Hello' }, 3], 'gave 3; expected'],
    [Promise.resolve({ say: 'Hello' }), 'gave a promise; expected'],
  ])('that gives what is no act breaks the run: %j', async ([act, message]) => {
    const { violation } = await simulate(withAnn(() => untyped(act)))
    expect(violation?.message).toContain(untyped(message))
  })

  it('that gives a promise may reject it: nobody waits for it', async () => {
    const { violation } = await simulate(withAnn(() => untyped(Promise.reject(new Error('late')))))
    expect(violation?.message).toContain('gave a promise')
  })

  it('that looks at the real clock is named', async () => {
    const { violation } = await simulate(withAnn(() => (Date.now() > 0 ? undefined : { say: 'It is late.' })))
    expect(violation?.law).toBe('real-time-in-simulation')
    expect(violation?.message).toContain("user 'ann' used Date.now()")
  })

  it('is made of a behaviour, and of a time that can be', () => {
    expect(() => simulatedUser(untyped('Ann'))).toThrow('simulatedUser() takes a function of what is seen, got "Ann".')
    expect(() => simulatedUser(() => undefined, { reactionMs: [9, 1] })).toThrow(
      'simulatedUser(): reactionMs must be two whole numbers',
    )
    expect(() => simulatedUser(() => undefined, untyped({ latencyMs: [1, 2] }))).toThrow(
      'simulatedUser(): unknown option latencyMs',
    )
  })
})

describe('a simulated service', () => {
  it('is made of a state, a behaviour, and a time that can be', () => {
    const reply = () => 'Thanks'
    expect(() => service(untyped({}), reply)).toThrow('service() takes a function that makes a state, and a behaviour')
    expect(() => service(() => ({}), reply, { latencyMs: [-2, 1] })).toThrow(
      'service(): latencyMs must be two whole numbers',
    )
    expect(() => service(() => ({}), reply, untyped({ reactionMs: [1, 2] }))).toThrow('unknown option reactionMs')
  })
})

describe('a law of one’s own', () => {
  it.for([
    [5, 'the check gave 5; expected nothing or true where the law holds'],
    [Promise.resolve(true), 'the check gave a promise, and the next tick does not wait for it'],
    ['', 'it does not hold'],
  ])('whose check gives %s is broken, and says so', async ([verdict, message]) => {
    const { violation } = await simulate({ ...smallTeam, laws: [law('a law', () => untyped(verdict))] })
    expect(violation?.message).toContain(message)
  })

  it('that cannot wait for what its check rejects with is broken all the same', async () => {
    const check = () => untyped(Promise.reject(new Error('late')))
    const { violation } = await simulate({ ...smallTeam, laws: [law('a law', check)] })
    expect(violation?.message).toContain('the check gave a promise')
  })

  it('has a name and something that checks it', () => {
    expect(() => law('', () => true)).toThrow('law(): its name must say what always holds, got "".')
    expect(() => law('a law', {})).toThrow("law(): 'a law' must be checked by a function, or { ticked, finished }")
    expect(() => law('a law', untyped(true))).toThrow('got true.')
    const misspelt = { ticked: () => true, finnished: () => true }
    expect(() => law('a law', untyped(misspelt))).toThrow('unknown option finnished. Known: ticked, finished')
  })
})

describe('what looks at a result', () => {
  it('refuses what is none', () => {
    expect(() => assertLawful(untyped({}))).toThrow(
      'assertLawful() takes what simulate() or sweep() gives, got an object.',
    )
  })

  it('draws no page of lines that nobody has kept', async () => {
    const told = await simulate({ ...smallTeam, onTrace: () => undefined })
    await expect(timelinePage(told)).rejects.toThrow('with onTrace none are. Leave out onTrace.')
  })
})

describe('the old names of simulated users', () => {
  const act: UserBehaviour = (seen) => (seen.type === 'turn-started' ? { cancel: 1, reason: 'Enough.' } : undefined)
  const careful = simulatedUser(act)

  it('make the same run as the new ones: `person`, `people`, and the faults of `people`', async () => {
    // oxlint-disable-next-line typescript/no-deprecated -- what is tested
    const old = { ...smallTeam, people: { ann: person(act) }, faults: { people: { message: 0.3 } } }
    const result = await simulate(old)
    const { trace, faults } = await simulate({
      ...smallTeam,
      users: { ann: careful },
      faults: { users: { message: 0.3 } },
    })
    expect(faults.length).toBeGreaterThan(0)
    expect(result.trace.lines).toEqual(trace.lines)
    const listed = faults.map((fault) =>
      fault.what === 'users.message' ? { ...fault, what: 'people.message' as const } : fault,
    )
    expect((await simulate({ ...smallTeam, users: { ann: careful }, faults: listed })).faults).toEqual(faults)
  })

  it('are refused beside the new ones', async () => {
    const both = { users: { ann: careful }, people: { ann: careful } }
    await expect(simulate({ ...smallTeam, ...both })).rejects.toThrow(
      "simulate(): 'people' is the old name of 'users', and both are given. Pass 'users' alone.",
    )
    const rates = { people: { cancel: 0.1 }, users: { cancel: 0.1 } }
    await expect(simulate({ ...smallTeam, faults: rates })).rejects.toThrow(
      "faults: 'people' is the old name of 'users'",
    )
  })
})
