/** A folder that can be asked about. */
export const files = {
  'docs/restarts.md': [
    '# Restarts',
    '',
    'Every tick is written down before its effects begin.',
    '',
    'When the process is killed, a tool call that was under way',
    'is run again, unless its tool says `once`.',
  ].join('\n'),
  'docs/models.md': '# Models\n\nA model is called by its name.\n',
  'examples/sums.ts': '// A tool that adds.\nexport const add = 1\n',
  'image.bin': Uint8Array.of(0, 1, 2, 3),
}

/** What can be asked of it. */
export const question = 'What happens to a tool call when the process is killed?'
