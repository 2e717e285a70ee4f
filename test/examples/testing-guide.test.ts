import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { assertFreshBuild } from '../harness/fresh-build.ts'
import '../../examples/recipes/testing/weather-vitest.test.ts' // Registers its test with this run.

it('passes the node:test example of the testing guide', async () => {
  assertFreshBuild()
  const flags = ['--test', '--test-reporter=tap', 'examples/recipes/testing/weather-node.test.ts']
  const { stdout } = await promisify(execFile)(process.execPath, flags)
  expect(stdout).toMatch(/^# pass 1$/m)
})
