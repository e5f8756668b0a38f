import { overSeeds } from './over-seeds.ts'
import story from './told/waiting-in-line.ts'

overSeeds('agents that are stopped while they stand in the line of a provider', story)
