/** Entia and the Model Context Protocol: its tools for other programs, and the tools of others for its agents. */

export { serverDefaults } from './server-defaults.ts'
