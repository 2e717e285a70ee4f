import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/index.ts'
import { parseSkill, SkillError } from '../../src/tools.ts'

const file = (...frontmatter: string[]) => `---\n${frontmatter.join('\n')}\n---\nDo it.\n`
const git = file('name: git', 'description: Commits.')
const warned = async (text: string) => (await parseSkill(text)).warnings.map(({ code, message }) => `${code}: ${message}`)

async function refusal(text: string): Promise<SkillError> {
  const error: unknown = await parseSkill(text).catch((thrown) => thrown)
  if (!SkillError.isInstance(error)) throw error
  return error
}

describe('parseSkill', () => {
  it('reads all standard fields, and keeps other fields unchanged', async () => {
    const text = file(
      'name: pdf',
      'description: >-',
      '  Reads PDF files: text, tables.',
      '  Use it for scans.',
      'license: MIT',
      'compatibility: Needs poppler',
      'metadata:',
      '  author: ann',
      '  version: 1.0',
      'allowed-tools: Bash(git log:*), Read Edit',
      'author: bob',
    )
    expect(await parseSkill(text)).toEqual({
      name: 'pdf',
      description: 'Reads PDF files: text, tables. Use it for scans.',
      license: 'MIT',
      compatibility: 'Needs poppler',
      metadata: { author: 'ann', version: '1.0' },
      allowedTools: ['Bash(git log:*)', 'Read', 'Edit'],
      frontmatter: expect.objectContaining({ author: 'bob', 'allowed-tools': 'Bash(git log:*), Read Edit' }),
      body: 'Do it.',
      warnings: [{ code: 'unknownField', message: expect.stringContaining('"author"') }],
    })
  })

  it.each([
    ['CRLF', git.replaceAll('\n', '\r\n')],
    ['CR', git.replaceAll('\n', '\r')],
    ['spaces after the fences', git.replaceAll('---', '--- \t')],
    ['no line break at the end', '---\nname: git\ndescription: Commits.\n---'],
    ['quotes', file('name: "git"', "description: 'Commits.'")],
    ['comments', file('# ours', 'name: git # the tool', 'description: Commits.')],
  ])('accepts %s', async (_, text) => {
    expect(await parseSkill(text)).toMatchObject({ name: 'git', description: 'Commits.', warnings: [] })
  })

  it.each([
    ['a byte order mark', `\ufeff${git}`],
    ['... as the second fence', '---\nname: git\ndescription: Commits.\n...\n'],
    ['a duplicate field', file('name: x', 'name: git', 'description: Commits.')],
    ['an anchor', file('name: git', 'description: &d Commits.')],
    ['brackets', file('{name: git, description: Commits.}')],
  ])('accepts %s with a portability warning', async (_, text) => {
    expect(await parseSkill(text)).toMatchObject({ name: 'git', description: 'Commits.' })
    expect(await warned(text)).toEqual([expect.stringMatching(/^notPortable: Other skill loaders/)])
  })

  it.each([
    'Use when: the user asks about PDFs',
    'Deploys. Note: needs "kubectl" & more # not a comment?',
    '[Beta] formats code',
    '[Beta]',
    '*important* things',
    '@mentions and `code`',
    '`code` and more',
    '& more',
    '!important things',
    '% of all',
    '> 5 files',
    '| a pipe',
    '{braces} and more',
    '"Quoted" and more',
    "'tis: so",
    '- a dash',
    '? a question',
    ', a comma',
    '\\ "both": of them',
  ])('accepts the description %j literally, with a portability warning', async (description) => {
    const text = file('name: odd', `description: ${description}`, 'license: MIT')
    expect(await parseSkill(text)).toMatchObject({ name: 'odd', description, license: 'MIT', frontmatter: { description } })
    expect(await warned(text)).toEqual([expect.stringMatching(/^notPortable: .*description is only valid YAML in quotes/)])
    expect(await parseSkill(text.replaceAll('\n', '\r\n'))).toMatchObject({ description })
  })

  it('joins the lines of a description that is not valid YAML', async () => {
    const text = file('description: Use when: the user', '  asks for a report: now', '', '  Or later', 'name: odd')
    expect(await parseSkill(text)).toMatchObject({ name: 'odd', description: 'Use when: the user asks for a report: now\nOr later' })
  })

  it('rejects other fields with invalid YAML', async () => {
    for (const field of ['name: [a', 'compatibility: - b', 'metadata: a: b'])
      expect(await refusal(file(`description: Use when: now`, field))).toMatchObject({ code: 'invalidYaml' })
  })

  it.each([
    ['', 'noFrontmatter', /does not begin with a --- line/],
    ['# Title', 'noFrontmatter', /does not begin/],
    ['\n---\nname: a\n---\n', 'noFrontmatter', /does not begin/],
    ['----\nname: a\n----\n', 'noFrontmatter', /does not begin/],
    ['---\nname: a\n', 'noFrontmatter', /no second --- line/],
    ['---', 'noFrontmatter', /does not begin/],
    ['---\n---\n', 'invalidYaml', /not a mapping/],
    ['---\nname\n---\n', 'invalidYaml', /not a mapping/],
    ['---\n- a\n---\n', 'invalidYaml', /not a mapping/],
    [file('name: [a'), 'invalidYaml', /line 2, column/],
    [file('name: a', 'description: Use this: now', 'license: [b'), 'invalidYaml', /line 4, column/],
    [file('name: a', 'metadata:', '\tb: c'), 'invalidYaml', /line 4, column 1/],
    [file('description: d'), 'missingName', /name is missing/],
    [file('name:', 'description: d'), 'missingName', /name is empty/],
    [file('name: " "', 'description: d'), 'missingName', /name is empty/],
    [file('name: [a]', 'description: d'), 'missingName', /name is not text/],
    [file('name: a'), 'missingDescription', /description is missing/],
    [file('name: a', 'description: {a: b}'), 'missingDescription', /description is not text/],
  ])('rejects %j', async (text, code, message) => {
    expect(await refusal(text)).toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it.each([
    ['Git', /lower case/],
    ['my_skill', /only letters, digits and hyphens/],
    ['a b', /only letters, digits and hyphens/],
    ['../evil', /only letters, digits and hyphens/],
    ['-a', /begin or end/],
    ['a-', /begin or end/],
    ['a--b', /two hyphens/],
    ['a'.repeat(65), /tooLong: name has 65 characters, but at most 64/],
    ['"a\\u202eb"', /"a\\u\{202e\}b" may contain/],
    ['"a\\u0007b"', /may contain only letters/],
  ])('accepts the name %j with a warning', async (name, message) => {
    expect(await warned(file(`name: ${name}`, 'description: d'))).toEqual([expect.stringMatching(message)])
  })

  it.each(['a', '123', 'тест-навык', 'cafe\u0301', '漢字', 'a'.repeat(64)])('accepts the name %s without a warning', async (name) => {
    expect(await warned(file(`name: ${name}`, 'description: d'))).toEqual([])
  })

  it('counts characters, not code units', async () => {
    expect(await warned(file('name: a', `description: ${'😀'.repeat(1024)}`, `compatibility: ${'😀'.repeat(500)}`))).toEqual([])
    expect(await warned(file('name: a', `description: ${'😀'.repeat(1025)}`, `compatibility: ${'😀'.repeat(501)}`))).toEqual([
      'tooLong: description has 1025 characters, but at most 1024 are allowed.',
      'tooLong: compatibility has 501 characters, but at most 500 are allowed.',
    ])
  })

  it('omits fields of the wrong type with a warning', async () => {
    const text = file('name: a', 'description: d', 'license: [MIT]', 'metadata: text', 'allowed-tools: {Read: true}', 'compatibility: - b')
    const odd = file('name: a', 'description: d', 'license:', '  - MIT', 'metadata: text', 'allowed-tools:', '  Read: yes')
    expect(await refusal(text)).toMatchObject({ code: 'invalidYaml' })
    const { frontmatter: _, warnings, ...skill } = await parseSkill(odd)
    expect(skill).toEqual({ name: 'a', description: 'd', body: 'Do it.' })
    expect(warnings.map(({ message }) => message)).toEqual([
      'license is not a text and is ignored.',
      'metadata is not a mapping and is ignored.',
      'allowed-tools is not a string or a list of strings and is ignored.',
    ])
  })

  it('accepts a list of tools only if every item is a name', async () => {
    const withTools = (...lines: string[]) => parseSkill(file('name: a', 'description: d', 'allowed-tools:', ...lines))
    expect((await withTools('  - Bash(git log:*)', '  - Read')).allowedTools).toEqual(['Bash(git log:*)', 'Read'])
    expect((await withTools('  - Read', '  - [Edit]')).allowedTools).toBeUndefined()
    expect((await parseSkill(file('name: a', 'description: d', 'allowed-tools:'))).allowedTools).toEqual([])
  })

  it('ignores names of Object.prototype members', async () => {
    const { frontmatter, metadata } = await parseSkill(
      file('name: a', 'description: d', '__proto__: {license: MIT}', 'constructor: c', 'metadata:', '  __proto__:', '    polluted: yes'),
    )
    expect(Object.getPrototypeOf(frontmatter)).toBe(Object.prototype)
    expect(Object.hasOwn(frontmatter, '__proto__')).toBe(true)
    expect(Reflect.get(metadata ?? {}, 'polluted')).toBeUndefined()
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(JSON.parse(JSON.stringify(frontmatter))).toEqual(frontmatter)
    expect(await refusal(file('__proto__: {name: a, description: b}'))).toMatchObject({ code: 'missingName' })
  })

  it.each([
    [
      'aliases of aliases',
      `name: a\ndescription: d\n${Array.from({ length: 9 }, (_, i) => `a${i}: &a${i} [${Array(9).fill(i === 0 ? 'x' : `*a${i - 1}`)}]`).join('\n')}`,
    ],
    ['an alias of itself', 'name: a\ndescription: d\nmetadata: &m [*m]'],
    ['nested lists', `name: a\ndescription: d\nmetadata: ${'['.repeat(7000)}`],
    ['closed nested lists', `name: a\ndescription: d\nmetadata: ${'['.repeat(30)}${']'.repeat(30)}`],
    ['nested mappings', `name: a\ndescription: d\nmetadata: ${'{a: '.repeat(1900)}`],
    ['many uses of an anchor', `name: a\ndescription: d\nmetadata: [&a x${',*a'.repeat(2500)}]`],
    ['an undefined alias', 'name: *a\ndescription: d'],
    ['only commas', `name: [${','.repeat(8000)}]`],
    ['only quotes', '"'.repeat(8000)],
  ])('rejects %s', async (_, yaml) => {
    expect(await refusal(file(yaml))).toMatchObject({ code: 'invalidYaml' })
  })

  it('limits unclosed brackets, but not closed or quoted ones', async () => {
    const description = `${'[a] {b} '.repeat(200)}${'['.repeat(100)}`
    expect(await parseSkill(file('name: a', `description: "${description}"`))).toMatchObject({ description })
    expect(await refusal(file('name: a', `description: "${description}["`))).toMatchObject({
      message: expect.stringContaining('more than 100 brackets'),
    })
  })

  it('never executes a YAML tag', async () => {
    const { frontmatter } = await parseSkill(file('name: a', 'description: !!js/function "d"', 'bytes: !!binary aGk=', 'own: !x 1'))
    expect(frontmatter).toMatchObject({ description: 'd', bytes: 'aGk=', own: '1' })
  })

  it('requires the closing fence within 8,192 characters', async () => {
    const padded = (length: number) => file('name: a', 'description: d', `# ${'x'.repeat(length)}`)
    expect(await parseSkill(padded(8100))).toMatchObject({ name: 'a' })
    // A line that only begins like a fence, right at the limit.
    expect(await refusal(`${padded(8100).slice(0, -12).padEnd(8195, 'x')}\n---more\n`)).toMatchObject({ code: 'noFrontmatter' })
    expect(await refusal(padded(8200))).toMatchObject({ code: 'noFrontmatter', message: expect.stringContaining('8192') })
    expect(await refusal(file('name: a', 'description: d', '#'.repeat(10_000_000)))).toMatchObject({ code: 'noFrontmatter' })
    expect((await parseSkill(git + 'x'.repeat(1_000_000))).body).toHaveLength(1_000_007)
  })

  it('rejects a value that is not a string', async () => {
    for (const odd of [undefined, null, 7, new Uint8Array(3)]) await expect(parseSkill(odd as never)).rejects.toThrow(ConfigError)
  })

  it('returns a skill or a SkillError for any text', async () => {
    const line = fc.oneof(
      fc.constantFrom(
        '---',
        '...',
        'name: a',
        'description: b',
        '- x',
        '  c: d',
        'm: |',
        '\t',
        '&a',
        '*a',
        '"',
        '{',
        '%YAML 1.1',
        '? x',
        '!!map',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        async (lines, end, isFenced) => {
          const text = (isFenced ? ['---', 'name: a', 'description: b', ...lines, '---', 'body'] : lines).join(end)
          const parsed = await parseSkill(text).catch((error: unknown) => error)
          if (SkillError.isInstance(parsed)) return
          expect(parsed).toMatchObject({ name: expect.any(String), description: expect.stringMatching(/\S/), frontmatter: {} })
          expect(text.endsWith(Reflect.get(parsed as object, 'body'))).toBe(true)
          expect(structuredClone(parsed)).toEqual(parsed)
        },
      ),
    )
  })
})
