import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { coordinate } from '../../examples/agents/coordinator.ts'
import { assertFreshBuild } from '../harness/fresh-build.ts'

it('delegates finding a bug to a researcher and fixing it to a coder', async () => {
  const lines: string[] = []
  const file = await coordinate((line) => lines.push(line))
  expect(lines).toEqual([
    '→ researcher: Where is the greeting misspelled?',
    '    researcher calls search',
    '← researcher: The greeting is misspelled in src/greet.js, line 2: "Helo".',
    '→ coder: In src/greet.js, line 2, correct "Helo" to "Hello".',
    '    coder calls edit_file',
    '← coder: Corrected to "Hello" in src/greet.js.',
    'The greeting was misspelled in src/greet.js; it says "Hello" now.',
  ])
  expect(file).toContain('`Hello, $' + '{name}!`')
})

it('lists a directory and asks before it runs a command', async () => {
  assertFreshBuild()
  const root = mkdtempSync(join(tmpdir(), 'phi-example-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'one.txt'), '1')
  writeFileSync(join(root, 'two.txt'), '2')
  const printed = await new Promise<string>((resolve) => {
    const child = spawn(process.execPath, ['examples/agents/coding-assistant.ts', root])
    let all = ''
    let isDone = false
    child.stdout.on('data', (chunk: Buffer) => {
      all += chunk.toString()
      if (all.endsWith('Allow? [y/N] ')) child.stdin.write('n\n')
      if (!all.endsWith('> ')) return
      child.stdin.write(isDone ? '\n' : 'What is here?\n')
      isDone = true
    })
    child.stderr.on('data', (chunk: Buffer) => {
      all += chunk.toString()
    })
    child.on('close', () => resolve(all))
  })
  expect(printed).toContain('What I saw: one.txt two.txt')
  expect(printed).not.toContain('Exit code')
})
