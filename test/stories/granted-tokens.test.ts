import { overSeeds } from './over-seeds.ts'
import story from './told/granted-tokens.ts'

overSeeds('sessions that hand on what they were granted', story)
