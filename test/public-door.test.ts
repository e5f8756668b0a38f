import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

/** What can be imported, door by door, types aside. A name that comes or goes is a change that users see. */
const doors: Readonly<Record<string, readonly string[]>> = {
  entia: [],
  'entia/components': [
    'Acting',
    'Answered',
    'Approval',
    'ApprovalOf',
    'AwaitingApproval',
    'Conversation',
    'Due',
    'Effect',
    'HostFacts',
    'LastTurn',
    'Limits',
    'Llm',
    'ModelCall',
    'Outcome',
    'OutputSchema',
    'OwnedBy',
    'Paused',
    'Pending',
    'Permissions',
    'Prefix',
    'RenderedPrompt',
    'Requested',
    'Running',
    'SeenInputs',
    'SystemPrompt',
    'Terminal',
    'Thinking',
    'ToolCall',
    'ToolRegistry',
    'Turn',
    'Unread',
    'Usage',
  ],
  'entia/systems': ['standardSystems'],
}

describe('the package', () => {
  it('has these doors and no others', () => {
    const paths = Object.keys(manifest.exports).filter((path) => path !== './package.json')
    expect(paths.map((path) => path.replace('.', manifest.name))).toEqual(Object.keys(doors))
  })

  it.for(Object.entries(doors))('exports by %s what is listed and nothing else', async ([door, names]) => {
    expect(Object.keys(await import(door)).toSorted()).toEqual(names)
  })
})
