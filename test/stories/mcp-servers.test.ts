import { overSeeds } from './over-seeds.ts'
import story from './told/mcp-servers.ts'

overSeeds('agents whose MCP servers fail in every way', story)
