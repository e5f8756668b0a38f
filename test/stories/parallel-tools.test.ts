import { overSeeds } from './over-seeds.ts'
import story from './told/parallel-tools.ts'

overSeeds('agents with parallel tools of every restart class', story)
