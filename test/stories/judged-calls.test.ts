import { overSeeds } from './over-seeds.ts'
import story from './told/judged-calls.ts'

overSeeds('an agent whose calls are judged and asked about', story)
