import { overSeeds } from './over-seeds.ts'
import story from './told/single-agent.ts'

overSeeds('an agent to whom somebody hands letter after letter', story)
