import { expect, it } from 'vitest'
import { countJunit } from '../../scripts/test/junit.ts'

it('counts passed, failed and skipped cases in nested suites, and names failures', () => {
  const xml = `<?xml version="1.0"?><testsuites tests="5"><testsuite name="a" tests="5">
    <testcase name="1 &gt; 2" time="0.1"/>
    <testcase name="3" time="0.1">
    </testcase>
    <testsuite name="b"><testcase classname="b &amp; c" name="4 &gt; 5"><failure message="no">&lt;testcase</failure></testcase></testsuite>
    <testcase name="5"><error message="no" /></testcase>
    <testcase name="6"><skipped /></testcase>
  </testsuite></testsuites>`
  expect(countJunit(xml)).toEqual({
    passed: 2,
    failed: 2,
    skipped: 1,
    failures: [
      { file: 'b & c', name: '4 > 5' },
      { file: '', name: '5' },
    ],
  })
  expect(countJunit('')).toEqual({ passed: 0, failed: 0, skipped: 0, failures: [] })
})
