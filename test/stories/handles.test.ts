import { overSeeds } from './over-seeds.ts'
import story from './told/handles.ts'

overSeeds('agents that store long results under handles', story)
