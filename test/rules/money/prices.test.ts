import fc from 'fast-check'
import { type EntiaError, Host, type Price, type TokenUsage, World } from 'entia'
import { contextWindowOf, priced, ratesOf } from 'entia/models'
import { simulate } from 'entia/sim'
import { afterEach, describe, expect, it, vi } from 'vitest'

/** In the middle of 2026, at noon. */
const noonMs = Date.UTC(2026, 5, 15, 12)

interface Asked {
  readonly overrides?: Readonly<Record<string, Price>>
  readonly dateMs?: number
}

async function costOf(model: string, usage: TokenUsage, { overrides, dateMs = noonMs }: Asked = {}) {
  return (await priced(model, usage, { dateMs, overrides })).costNanoUsd
}

/** What a million tokens of a kind cost, in dollars. */
async function usdPerMillion(model: string, kind: keyof TokenUsage, asked: Asked = {}): Promise<number> {
  const whole = kind === 'cacheWrite1h' ? { cacheWrite: 1_000_000 } : {}
  // Without one of these two, nothing is known.
  const usage = { input: 0, ...whole, [kind]: 1_000_000 }
  return ((await costOf(model, usage, asked)) ?? NaN) / 1e9
}

afterEach(() => void vi.unstubAllGlobals())

describe('a call', () => {
  const usage = { input: 2_000, cacheRead: 6_000, cacheWrite: 2_000, output: 1_000 }

  it.for(['claude-opus-5', 'anthropic/claude-opus-5', 'Anthropic/Claude-OPUS-5'])(
    'of %s costs what its input, what it read from the cache and wrote to it, and its output cost',
    async (model) => {
      expect(await costOf(model, usage)).toBe(50_500_000)
    },
  )

  it('pays for what is kept an hour as part of what it wrote, and for no more than that', async () => {
    const written = { input: 0, cacheWrite: 400 }
    expect(await costOf('claude-opus-5', written)).toBe(2_500_000)
    expect(await costOf('claude-opus-5', { ...written, cacheWrite1h: 100 })).toBe(300 * 6_250 + 100 * 10_000)
    expect(await costOf('claude-opus-5', { ...written, cacheWrite1h: 900 })).toBe(4_000_000)
    expect(await costOf('claude-opus-5', { input: 0, cacheWrite1h: 900 })).toBe(0)
  })

  it('pays nothing for what its provider did not say', async () => {
    expect(await costOf('claude-opus-5', { input: 2_000 })).toBe(10_000_000)
    expect(await costOf('claude-opus-5', { output: 1_000 })).toBe(25_000_000)
  })

  it('has no cost where its provider said neither input nor output', async () => {
    const known = await priced('claude-opus-5', { cacheRead: 6_000, cacheWrite: 10 }, { dateMs: noonMs })
    expect(known).toEqual({ contextWindow: 1_000_000 })
  })

  it('is rounded half up, once', async () => {
    const overrides = { x: { input: 0.0005, output: 0.0004 } }
    expect(await costOf('x', { input: 1 }, { overrides })).toBe(1)
    expect(await costOf('x', { output: 1 }, { overrides })).toBe(0)
    expect(await costOf('x', { input: 1, cacheRead: 1, cacheWrite: 1 }, { overrides })).toBe(2)
    expect(await costOf('x', { input: 3, output: 1 }, { overrides })).toBe(2)
  })

  it('costs the same to the billionth of a dollar where sums in floating point would not', async () => {
    const overrides = { x: { input: 1.1, cacheRead: 0.1, cacheWrite: 0.7, output: 0.3 } }
    const many = { input: 8_000_000_000_003, cacheRead: 1, cacheWrite: 1, output: 7 }
    expect(await costOf('x', many, { overrides })).toBe(8_800_000_000_006_200)
  })

  it('costs what whole numbers say, be its counts and rates long or short', async () => {
    const count = fc.oneof(fc.nat(200_000), fc.maxSafeNat())
    const rate = fc.oneof(
      fc.nat(200_000_000),
      fc.nat(20_000_000).map((long) => long + 1e-4),
    )
    await fc.assert(
      fc.asyncProperty(count, rate, count, rate, async (input, inputMicro, output, outputMicro) => {
        const overrides = { x: { input: inputMicro / 1e6, output: outputMicro / 1e6 } }
        // Rates in 10⁻¹⁰ of a dollar, a token of which is 10⁻⁷ of its billionth.
        const tenths = (micro: number): bigint => BigInt(Math.round(micro * 1e4))
        const exact =
          (BigInt(input) * tenths(inputMicro) + BigInt(output) * tenths(outputMicro) + 5_000_000n) / 10_000_000n
        const most = BigInt(Number.MAX_SAFE_INTEGER)
        expect(await costOf('x', { input, output }, { overrides })).toBe(Number(exact > most ? most : exact))
      }),
    )
  })

  it.for([
    ['anthropic/claude-sonnet-4-5', 3, 6, 15, 22.5],
    ['openai/gpt-6-sol', 2, 4, 10, 15],
  ] as const)('of %s costs more when its prompt is long, the cached part included', async ([model, ...rates]) => {
    const [input, dearInput, output, dearOutput] = rates.map((rate) => rate * 1_000)
    const limit = model.startsWith('openai') ? 272_000 : 200_000
    const short = { input: 1_000, cacheRead: limit - 1_000 }
    const read = ((await costOf(model, short)) as number) - 1_000 * (input as number)
    expect(await costOf(model, { ...short, output: 10 })).toBe(
      1_000 * (input as number) + read + 10 * (output as number),
    )
    const long = { ...short, input: 1_001, output: 10 }
    expect(await costOf(model, long)).toBe(1_001 * (dearInput as number) + 2 * read + 10 * (dearOutput as number))
  })

  it('costs what it did on its day', async () => {
    const on = (day: string) => ({ dateMs: Date.parse(day) })
    expect(await usdPerMillion('openai/o3', 'input', on('2025-06-09T23:59:59Z'))).toBe(10)
    expect(await usdPerMillion('openai/o3', 'input', on('2025-06-10T00:00:00Z'))).toBe(2)
    expect(await usdPerMillion('gemini/gemini-3.8-flash', 'output', on('2026-12-31T00:00:00Z'))).toBe(3.75)
    expect(await usdPerMillion('gemini/gemini-3.8-flash', 'output', on('2027-01-01T00:00:00Z'))).toBe(7.5)
  })

  it('costs what it does at its hour', async () => {
    const cheap = await usdPerMillion('deepseek/deepseek-v4-pro', 'input', { dateMs: Date.UTC(2026, 9, 1, 12) })
    const dear = await usdPerMillion('deepseek/deepseek-v4-pro', 'input', { dateMs: Date.UTC(2026, 9, 1, 2) })
    expect(dear).toBeGreaterThan(cheap)
  })

  it('costs no less than nothing and no more than a number can say, whatever its provider counts', async () => {
    const count = fc.option(fc.oneof(fc.nat(3_000_000), fc.double(), fc.integer()), { nil: undefined })
    const usages = fc.record({ input: count, cacheRead: count, cacheWrite: count, cacheWrite1h: count, output: count })
    const rate = fc.option(fc.double({ min: 0, max: 1_000_000, noNaN: true }), { nil: undefined })
    const window = fc.option(fc.integer({ min: 1 }), { nil: undefined })
    const rates = { input: rate, cacheRead: rate, cacheWrite: rate, cacheWrite1h: rate, output: rate }
    const overrides = fc.record({ 'claude-opus': fc.record({ ...rates, contextWindow: window }) })
    const models = fc.oneof(
      fc.constantFrom('claude-opus-5', 'claude-opus-4-6', 'openai/gpt-5.4', 'deepseek/deepseek-chat', 'x/claude-opus'),
      fc.string(),
      fc.tuple(fc.string(), fc.string()).map((parts) => parts.join('/')),
    )
    const dates = fc.integer({ min: -8.64e15, max: 8.64e15 })
    await fc.assert(
      fc.asyncProperty(models, usages, overrides, dates, async (model, spent, own, dateMs) => {
        const { costNanoUsd = 0, contextWindow = 1 } = await priced(model, spent, { dateMs, overrides: own })
        expect(Number.isSafeInteger(costNanoUsd)).toBe(true)
        expect(costNanoUsd).toBeGreaterThanOrEqual(0)
        expect(contextWindow).toBeGreaterThanOrEqual(1)
        const { inputUsdPerMillion = 0 } = (await ratesOf(model, { dateMs, overrides: own })) ?? {}
        expect(inputUsdPerMillion).toBeGreaterThanOrEqual(0)
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  it('costs no more than its dearest rates say', async () => {
    const model = fc.constantFrom('claude-opus-5', 'claude-sonnet-4-5', 'openai/gpt-5.4', 'vertex/gemini-2.5-pro')
    const count = fc.nat(400_000)
    const usages = fc.record({ input: count, cacheRead: count, cacheWrite: count, cacheWrite1h: count, output: count })
    await fc.assert(
      fc.asyncProperty(model, usages, async (name, { input, cacheRead, cacheWrite, cacheWrite1h, output }) => {
        const cost = (await costOf(name, { input, cacheRead, cacheWrite, cacheWrite1h, output })) ?? NaN
        const { inputUsdPerMillion = NaN, outputUsdPerMillion = NaN } = (await ratesOf(name, { dateMs: noonMs })) ?? {}
        const most = (input + cacheRead + cacheWrite) * inputUsdPerMillion + output * outputUsdPerMillion
        expect(cost).toBeLessThanOrEqual(Math.ceil(most * 1_000))
      }),
      { seed: 7, numRuns: 200 },
    )
  })
})

describe('a model', () => {
  it.for([
    'ollama/llama3.3',
    'ollama/gpt-oss:20b',
    'llama3.3',
    'lead/x',
    'mine/claude-opus-5',
    'my-openai/gpt-5',
    'gemini/gemini-3.5-pro',
    'openai/text-embedding-3-small',
    'constructor/x',
    '__proto__',
    'litellm/gpt-5',
    'anthropic/',
    '/',
    '',
  ])("that nobody has a price for has no cost and no window: '%s'", async (model) => {
    expect(await costOf(model, { input: 10, output: 10 })).toBeUndefined()
    expect(await ratesOf(model, { dateMs: noonMs })).toBeUndefined()
  })

  it('of a server on this machine has the price that is given to it', async () => {
    const overrides = { 'ollama/llama3.3': { input: 0, output: 0, contextWindow: 131_072 } }
    expect(await priced('ollama/llama3.3', { input: 9, output: 9 }, { dateMs: noonMs, overrides })).toEqual({
      costNanoUsd: 0,
      contextWindow: 131_072,
    })
  })

  it.for([
    ['gemini/gemini-2.5-flash', 'google/gemini-2.5-flash'],
    ['vertex/gemini-2.5-flash', 'gemini-2.5-flash'],
    ['vertex/claude-opus-5', 'anthropic/claude-opus-5'],
    ['moonshot/kimi-k2.6', 'moonshotai/kimi-k2.6'],
    ['xai/grok-4.5', 'x-ai/grok-4.5'],
    ['bedrock/us.anthropic.claude-opus-5', 'aws/us.anthropic.claude-opus-5'],
  ] as const)('is found in the list under the name that its provider has there: %s', async ([ours, theirs]) => {
    const cost = await costOf(ours, { input: 1_000, output: 1_000 })
    expect(cost).toBeGreaterThan(0)
    expect(await costOf(theirs, { input: 1_000, output: 1_000 })).toBe(cost)
  })

  it.for([
    ['claude-opus-5', 1_000_000],
    ['Moonshot/Kimi-K3', 1_048_576],
    ['gemini/gemini-2.5-pro', 1_048_576],
    ['vertex/gemini-3-pro-preview', 1_048_576],
    ['vertex/gemini-3-pro', 1_048_576],
    ['gemini-3.1-pro-preview', 1_048_576],
    ['gemini/gemini-2.5-pro-tts', 8_192],
    ['gemini/gemini-3.5-pro', undefined],
    ['ollama/llama3.3', undefined],
    ['mine/gemini-2.5-pro', undefined],
  ] as const)('has the window that is known of it: %s', async ([model, contextWindow]) => {
    expect(await contextWindowOf(model)).toBe(contextWindow)
    expect(await priced(model, {}, { dateMs: noonMs })).toEqual(contextWindow === undefined ? {} : { contextWindow })
  })

  it('has as its dearest rates those of long prompts and of the cache', async () => {
    const dearest = { inputUsdPerMillion: 12, outputUsdPerMillion: 22.5 }
    expect(await ratesOf('anthropic/claude-sonnet-4-5', { dateMs: noonMs })).toEqual(dearest)
    const overrides = { mine: { input: 2, cacheRead: 1, output: 3 } }
    expect(await ratesOf('mine', { dateMs: noonMs, overrides })).toEqual({
      inputUsdPerMillion: 2,
      outputUsdPerMillion: 3,
    })
  })

  it('is looked up without asking anybody', async () => {
    const asked = vi.fn<typeof fetch>(() => {
      throw new Error('The network was asked.')
    })
    vi.stubGlobal('fetch', asked)
    expect(await costOf('claude-opus-5', { input: 1 })).toBe(5_000)
    expect(await contextWindowOf('gemini/gemini-2.5-pro')).toBe(1_048_576)
    expect(await costOf('nobody/knows', { input: 1 })).toBeUndefined()
    expect(asked).not.toHaveBeenCalled()
  })

  it('is looked up at a time that there is', async () => {
    await expect(costOf('openai/o3', { input: 1 }, { dateMs: NaN })).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(costOf('x', { input: 1 }, { dateMs: 1e16 })).rejects.toThrow(/dateMs .* got 10000000000000000/)
  })
})

describe('a price of a program', () => {
  const overrides = {
    'anthropic/Claude-Opus-5': { input: 1, output: 1 },
    'claude-opus-5': { input: 2, output: 2 },
    'claude-opus': { input: 3, output: 3 },
    'claude-': { input: 4, output: 4 },
    'vertex/claude-opus': { input: 5, output: 5 },
    'vertex/': { input: 6, output: 6 },
  }

  it.for([
    ['anthropic/claude-opus-5', 1],
    ['ANTHROPIC/CLAUDE-OPUS-5', 1],
    ['vertex/claude-opus-5', 2],
    ['claude-opus-5', 2],
    ['anthropic/claude-opus-5-5', 2],
    ['anthropic/claude-opus-4-7', 3],
    ['vertex/claude-opus-4-7', 3],
    ['anthropic/claude-haiku-4-5', 4],
    ['vertex/gemini-2.5-flash', 6],
    ['openai/gpt-5', 1.25],
  ] as const)(
    'counts under provider and model, then model, then the longest beginning of the model, then of both: %s',
    async ([model, usd]) => {
      expect(await usdPerMillion(model, 'input', { overrides })).toBe(usd)
    },
  )

  it('takes its rates of the cache from its input, known model or not', async () => {
    const own = { overrides: { 'claude-opus-5': { input: 3, output: 9 }, mine: { input: 3, output: 9 } } }
    for (const model of ['claude-opus-5', 'anthropic/claude-opus-5', 'mine/x', 'mine']) {
      expect(await usdPerMillion(model, 'cacheRead', own)).toBe(3)
      expect(await usdPerMillion(model, 'cacheWrite', own)).toBe(3)
      expect(await usdPerMillion(model, 'cacheWrite1h', own)).toBe(3)
      expect(await usdPerMillion(model, 'output', own)).toBe(9)
    }
  })

  it('takes from its rate of writes that of those that are kept an hour', async () => {
    const own = { overrides: { 'claude-opus-5': { cacheWrite: 7 } } }
    expect(await usdPerMillion('claude-opus-5', 'cacheWrite', own)).toBe(7)
    expect(await usdPerMillion('claude-opus-5', 'cacheWrite1h', own)).toBe(7)
    const both = { overrides: { 'claude-opus-5': { cacheWrite: 7, cacheWrite1h: 8 } } }
    expect(await usdPerMillion('claude-opus-5', 'cacheWrite1h', both)).toBe(8)
  })

  it('takes from the list what it leaves out', async () => {
    const window = { overrides: { 'claude-opus-5': { contextWindow: 500_000 } } }
    expect(await contextWindowOf('anthropic/claude-opus-5', window)).toBe(500_000)
    expect(await usdPerMillion('anthropic/claude-opus-5', 'cacheRead', window)).toBe(0.5)
    const output = { overrides: { 'claude-opus-5': { output: 1 } } }
    expect(await contextWindowOf('anthropic/claude-opus-5', output)).toBe(1_000_000)
    expect(await usdPerMillion('anthropic/claude-opus-5', 'input', output)).toBe(5)
    expect(await usdPerMillion('anthropic/claude-opus-5', 'cacheWrite1h', output)).toBe(10)
    expect(await usdPerMillion('anthropic/claude-opus-5', 'output', output)).toBe(1)
    const read = { overrides: { 'claude-opus-5': { cacheRead: 0.1 } } }
    expect(await usdPerMillion('anthropic/claude-opus-5', 'cacheRead', read)).toBe(0.1)
    expect(await usdPerMillion('anthropic/claude-opus-5', 'cacheWrite', read)).toBe(6.25)
  })

  it('that is half of one leaves an unknown model without a cost', async () => {
    expect(await costOf('mine/x', { input: 1 }, { overrides: { mine: { contextWindow: 8 } } })).toBeUndefined()
    expect(await costOf('x', { input: 1 }, { overrides: { x: { input: 1 } } })).toBeUndefined()
    expect(await costOf('x', { input: 1 }, { overrides: { x: { output: 1 } } })).toBeUndefined()
  })

  it.for<[what: string, price: object, sentence: RegExp]>([
    ['below nothing', { input: -1 }, /prices\['mine\/x'\]\.input must be a number of US dollars .* got -1\./],
    ['that is no number', { cacheWrite1h: NaN }, /\.cacheWrite1h must be a number of US dollars .* got NaN\./],
    ['without end', { output: Infinity }, /\.output must be .* from 0 to 1000000, got Infinity\./],
    ['in words', { cacheRead: '3' }, /\.cacheRead must be a number of US dollars .* got '3'\./],
    ['with no window', { contextWindow: 0 }, /\.contextWindow must be an integer ≥ 1 \(tokens\), got 0\./],
    ['with half a token', { contextWindow: 0.5 }, /\.contextWindow must be .* got 0\.5\./],
    ['with a misspelt name', { cache_read: 1 }, /has no field 'cache_read'\. Known: input, cacheRead, /],
  ])('%s is refused by name when the Host is made', ([, price, sentence]) => {
    const make = () => new Host({ prices: { 'mine/x': price } })
    expect(make).toThrow(sentence)
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-argument' }) as EntiaError)
    expect(make).toThrow(/^Host: /)
  })

  it('that is none, or of a model without a name, is refused', async () => {
    const none: object = { x: null }
    const make = () => new Host({ prices: none as Record<string, Price> })
    expect(make).toThrow(/prices\['x'\] must be an object .* got null/)
    await expect(costOf('x', {}, { overrides: { '': { input: 1 } } })).rejects.toThrow(
      /must be a model's name or a prefix of one/,
    )
  })

  it('that is none is refused before anything is simulated', async () => {
    const simulated = simulate({ world: () => new World(), prices: { x: { output: -2 } } })
    await expect(simulated).rejects.toThrow(/^simulate\(\): prices\['x'\]\.output .* got -2\./)
  })

  it('counts for calls on its Host', async () => {
    const host = new Host({ prices: { 'mine/x': { input: 10, output: 20, contextWindow: 8_000 } } })
    expect(await host.priced('mine/x', { input: 1, output: 2 }, noonMs)).toEqual({
      costNanoUsd: 50_000,
      contextWindow: 8_000,
    })
    expect(await host.rates('mine/x', noonMs)).toEqual({ inputUsdPerMillion: 10, outputUsdPerMillion: 20 })
    expect(await host.rates('mine/y', noonMs)).toBeUndefined()
  })
})
