import { overSeeds } from './over-seeds.ts'
import story from './told/two-sleeps.ts'

overSeeds('tools that sleep in two places at once', story)
