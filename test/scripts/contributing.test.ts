import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fragmentFault, withFragments } from '../../scripts/changelog/fragments.ts'
import { subjectFault } from '../../scripts/check/commit-subject.ts'
import { documentedSizes } from '../support/size-limits.ts'

it('defines no install scripts, which strict npm settings reject', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?(?:install|prepare)$/.test(name))).toEqual([])
})

describe.each(Object.entries(documentedSizes))('%s', (page, sentences) => {
  it('states the size limits that the tests enforce', () => {
    const text = readFileSync(page, 'utf8')
    expect(sentences.filter((sentence) => !text.includes(sentence))).toEqual([])
  })
})

describe('commit subjects', () => {
  it.each(['fix(http): answer a late tool result', 'docs: name the three rings', 'feat(loop)!: drop `desk`', 'test(a-b,c): try one'])(
    'accepts %s',
    (subject) => expect(subjectFault(subject)).toBeUndefined(),
  )

  it.each([
    ['A tab that has spoken since is not told off', /type\(scope\)/],
    ['Fix(http): answer', /type\(scope\)/],
    ['fix(http):answer', /type\(scope\)/],
    ['fix(http): answer a late result.', /full stop/],
    [`fix(http): ${'a'.repeat(62)}`, /72 is the most/],
    ['fixup! fix(http): answer', /squash/],
  ])('rejects %s', (subject, reason) => expect(subjectFault(subject)).toMatch(reason))
})

describe('change fragments', () => {
  it('accepts every fragment of this checkout', () => {
    const paths = globSync('changes/*.md').filter((path) => !path.endsWith('README.md'))
    expect(paths.flatMap((path) => fragmentFault(path, readFileSync(path, 'utf8')) ?? [])).toEqual([])
  })

  it.each([
    ['changes/Late Result.fixed.md', 'One line.', /kebab-case/],
    ['changes/late.mended.md', 'One line.', /must be one of added/],
    ['changes/late.fixed.md', 'One line.\nAnother.', /one line/],
    ['changes/late.fixed.md', '- A bullet.', /without a bullet/],
    ['changes/late.fixed.md', '', /one line/],
  ])('rejects %s', (path, text, reason) => expect(fragmentFault(path, text)).toMatch(reason))

  it('adds lines under their headings, only in the newest section', () => {
    const changelog = '# Changelog\n\n## 0.2.0 (unreleased)\n\n### Fixed\n\n- Old.\n\n## 0.1.0\n\n### Fixed\n\n- First.\n'
    const fragments = [{ kind: 'fixed', line: 'New.' } as const, { kind: 'security', line: 'Safe.' } as const]
    expect(withFragments(changelog, fragments)).toBe(
      '# Changelog\n\n## 0.2.0 (unreleased)\n\n### Fixed\n\n- Old.\n- New.\n\n### Security\n\n- Safe.\n\n## 0.1.0\n\n### Fixed\n\n- First.\n',
    )
  })
})
