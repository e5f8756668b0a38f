// Prints, as JSON, whose counts token estimates are: at first, after questions that need no count, and after the first
// count, which it prints too. Usage: token-counter.ts [ahead], where `ahead` loads the tokenizer before all else.
import { estimateTokens, isAtLeast } from '../../src/rules/tokens/estimate-tokens.ts'
import { loadTokenizer, tokenizerName } from '../../src/rules/tokens/tokenizer.ts'

const text = 'Hello world'
if (process.argv[2] === 'ahead') await loadTokenizer()
const names = [tokenizerName()]
isAtLeast(text, { factor: 1, tokens: 1_000 })
estimateTokens('', { factor: 1 })
names.push(tokenizerName())
const tokens = estimateTokens(text, { factor: 1 })
names.push(tokenizerName())
await loadTokenizer()
names.push(tokenizerName())
process.stdout.write(JSON.stringify({ names, tokens }))
