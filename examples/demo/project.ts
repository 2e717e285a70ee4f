import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgentTool, defineTool } from 'phi-core'

const source = `/** The price of all items together. From 100 on there are 10 off. */
export function total(prices) {
  const sum = prices.reduce((all, price) => all + price, 0)
  return sum > 100 ? sum - 10 : sum
}
`

const tests = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { total } from './total.js'

test('adds prices', () => assert.equal(total([70, 29]), 99))
test('takes off 10 above 100', () => assert.equal(total([70, 80]), 140))
test('takes off 10 at 100', () => assert.equal(total([40, 60]), 90))
`

/** The edit that the demo script makes. */
export const ownEdit = { path: 'total.js', old_text: 'return sum > 100 ?', new_text: 'return sum >= 100 ?' } as const

/** A small project with a bug, in a separate folder. */
export interface Project {
  root: string
  /** Runs the tests of the project. Requires approval if the code is neither the original nor the fix of the script. */
  runTests: AgentTool
  remove(): void
}

/** Creates the project. Call `remove` at the end. */
export function makeProject(): Project {
  const root = mkdtempSync(join(tmpdir(), 'phi-demo-'))
  const files = { 'total.js': source, 'total.test.js': tests, 'package.json': '{ "type": "module" }\n' }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  const known = [source, source.replace(ownEdit.old_text, ownEdit.new_text)]
  const isKnown = () =>
    known.includes(readFileSync(join(root, 'total.js'), 'utf8')) && readFileSync(join(root, 'total.test.js'), 'utf8') === tests
  const runTests = defineTool({
    name: 'run_tests',
    description: 'Runs the tests of this project with node --test.',
    parameters: { type: 'object', properties: {} },
    needsApproval: () => !isKnown(),
    timeoutMs: 20_000,
    execute: (_, { signal }) => outputOf(root, signal),
  })
  return { root, runTests, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** Returns the output of the tests, without times. */
function outputOf(cwd: string, signal: AbortSignal): Promise<string> {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--test', '--test-reporter=tap'], { cwd, env, signal, stdio: ['ignore', 'pipe', 'ignore'] })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    child.once('error', reject)
    child.once('close', () => resolve(shortened(printed)))
  })
}

/** Formats one line per test, with the expected value of failed tests. */
function shortened(tap: string): string {
  const lines = Array.from(tap.matchAll(/^ *(not ok|ok) \d+ - (.+)$|^ +(expected|actual): (.+)$/gm), ([, verdict, name, what, value]) =>
    verdict === undefined ? `     ${what} ${value}` : `${verdict === 'ok' ? 'ok  ' : 'FAIL'} ${name}`,
  )
  return lines.filter((line) => !/\.test\.js$/.test(line)).join('\n')
}
