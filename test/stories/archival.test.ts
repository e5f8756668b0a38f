import { overSeeds } from './over-seeds.ts'
import story from './told/archival.ts'

overSeeds('an agent whose turns are archived', story)
