/** One operation, what it is called with, and what the document then demands, byte for byte. */
export interface CallCase {
  name: string
  method: string
  path: string
  parameters?: object[]
  body?: object
  args: Record<string, unknown>
  /** Path and query as they stand in the first line of the request. */
  target: string
  headers?: Record<string, string>
  sent?: string
}

const query = (name: string, more: object = {}) => ({ name, in: 'query', schema: {}, ...more })
const inPath = (name: string, more: object = {}) => ({ name, in: 'path', required: true, schema: {}, ...more })
const header = (name: string, more: object = {}) => ({ name, in: 'header', schema: {}, ...more })
const color = ['blue', 'black', 'brown']
const rgb = { R: 100, G: 200, B: 150 }
const get = (name: string, parameters: object[], args: Record<string, unknown>, target: string): CallCase => ({
  name,
  method: 'get',
  path: target.split('?', 1)[0] ?? '',
  parameters,
  args,
  target,
})
const at = (name: string, more: object, value: unknown, target: string): CallCase => ({
  ...get(name, [inPath('color', more)], { color: value }, target),
  path: `/${name}/{color}`,
})
const json = { content: { 'application/json': { schema: {} } } }

export const callCases: readonly CallCase[] = [
  get('formText', [query('q')], { q: 'a b&c=d/é' }, '/formText?q=a%20b%26c%3Dd%2F%C3%A9'),
  get('formEmpty', [query('q', { allowEmptyValue: true })], { q: '' }, '/formEmpty?q='),
  get('formNumber', [query('n'), query('yes')], { n: 0, yes: false }, '/formNumber?n=0&yes=false'),
  get('formNothing', [query('n'), query('m')], { n: null }, '/formNothing'),
  get('formList', [query('color')], { color }, '/formList?color=blue&color=black&color=brown'),
  get('formListFlat', [query('color', { explode: false })], { color: ['a,b', 'c'] }, '/formListFlat?color=a%2Cb,c'),
  get('formObject', [query('color')], { color: rgb }, '/formObject?R=100&G=200&B=150'),
  get('formObjectFlat', [query('color', { explode: false })], { color: rgb }, '/formObjectFlat?color=R,100,G,200,B,150'),
  get('spaces', [query('color', { style: 'spaceDelimited', explode: false })], { color }, '/spaces?color=blue%20black%20brown'),
  get('pipes', [query('color', { style: 'pipeDelimited', explode: false })], { color }, '/pipes?color=blue%7Cblack%7Cbrown'),
  get('pipesByDefault', [query('color', { style: 'pipeDelimited' })], { color }, '/pipesByDefault?color=blue%7Cblack%7Cbrown'),
  get(
    'deep',
    [query('color', { style: 'deepObject', explode: true })],
    { color: rgb },
    '/deep?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150',
  ),
  get('reserved', [query('q', { allowReserved: true })], { q: '/a:b?c,d&e=f#g+h' }, '/reserved?q=/a:b?c,d%26e=f%23g%2Bh'),
  get('jsonInQuery', [{ name: 'f', in: 'query', ...json }], { f: { a: [1] } }, '/jsonInQuery?f=%7B%22a%22%3A%5B1%5D%7D'),
  get('oddName', [query('filter[name]')], { filter_name_: 'x' }, '/oddName?filter%5Bname%5D=x'),
  get('oddNameAsWritten', [query('filter[name]')], { 'filter[name]': 'x' }, '/oddNameAsWritten?filter%5Bname%5D=x'),
  get('prototype', [query('__proto__'), query('constructor')], { constructor: 'a' }, '/prototype?constructor=a'),
  at('simple', {}, 'blue', '/simple/blue'),
  at('simpleList', {}, color, '/simpleList/blue,black,brown'),
  at('simpleObject', {}, rgb, '/simpleObject/R,100,G,200,B,150'),
  at('simpleObjectExploded', { explode: true }, rgb, '/simpleObjectExploded/R=100,G=200,B=150'),
  at('label', { style: 'label' }, 'blue', '/label/.blue'),
  at('labelList', { style: 'label', explode: true }, color, '/labelList/.blue.black.brown'),
  at('matrix', { style: 'matrix' }, 'blue', '/matrix/;color=blue'),
  at('matrixList', { style: 'matrix' }, color, '/matrixList/;color=blue,black,brown'),
  at('matrixListExploded', { style: 'matrix', explode: true }, color, '/matrixListExploded/;color=blue;color=black;color=brown'),
  at('slash', {}, 'a/b\\c?d#e', '/slash/a%2Fb%5Cc%3Fd%23e'),
  at('dots', {}, '../../admin', '/dots/..%2F..%2Fadmin'),
  at('encodedDots', {}, '%2e%2e', '/encodedDots/%252e%252e'),
  at('braces', {}, '{color}', '/braces/%7Bcolor%7D'),
  at('marks', {}, "it's(1)!*", '/marks/it%27s%281%29%21%2A'),
  {
    ...get('sameNameTwice', [inPath('id'), query('id'), header('id')], { id: '1', query_id: '2', header_id: '3' }, '/same/1?id=2'),
    path: '/same/{id}',
    headers: { id: '3' },
  },
  { ...get('twiceInPath', [inPath('id')], { id: 7 }, '/twice/7/of/7'), path: '/twice/{id}/of/{id}' },
  { ...get('undeclared', [], { id: 7 }, '/undeclared/7'), path: '/undeclared/{id}' },
  {
    ...get('headers', [header('X-List'), header('X-Text')], { 'X-List': [1, 2], 'X-Text': 'a b' }, '/headers'),
    headers: { 'x-list': '1,2', 'x-text': 'a b' },
  },
  {
    name: 'body',
    method: 'post',
    path: '/body',
    body: json,
    args: { body: { a: 'é', b: null } },
    target: '/body',
    headers: { 'content-type': 'application/json' },
    sent: '{"a":"é","b":null}',
  },
  { name: 'bodyNull', method: 'put', path: '/bodyNull', body: json, args: { body: null }, target: '/bodyNull', sent: 'null' },
  { name: 'noBody', method: 'post', path: '/noBody', body: json, args: {}, target: '/noBody', sent: '' },
  {
    name: 'bodyBeside',
    method: 'post',
    path: '/bodyBeside',
    parameters: [query('body')],
    body: json,
    args: { body: 'q', _request_body: [1] },
    target: '/bodyBeside?body=q',
    sent: '[1]',
  },
  {
    name: 'mergePatch',
    method: 'patch',
    path: '/mergePatch',
    body: { content: { 'text/plain': {}, 'application/merge-patch+json': { schema: {} } } },
    args: { body: { a: 1 } },
    target: '/mergePatch',
    headers: { 'content-type': 'application/merge-patch+json' },
    sent: '{"a":1}',
  },
  {
    name: 'anyType',
    method: 'post',
    path: '/anyType',
    body: { content: { '*/*': {} } },
    args: { body: [] },
    target: '/anyType',
    headers: { 'content-type': 'application/json' },
    sent: '[]',
  },
  {
    name: 'form',
    method: 'post',
    path: '/form',
    body: { content: { 'application/x-www-form-urlencoded': { schema: {}, encoding: { deep: { style: 'deepObject', explode: true } } } } },
    args: { body: { text: 'a b', list: [1, 2], deep: { a: { b: 1 } } } },
    target: '/form',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    sent: 'text=a+b&list=1&list=2&deep%5Ba%5D%5Bb%5D=1',
  },
]

/** All cases as one document. */
export function caseDocument(server: string): object {
  const paths: Record<string, object> = {}
  for (const { name, method, path, parameters, body } of callCases) {
    paths[path] = { [method]: { operationId: name, parameters, ...(body && { requestBody: body }), responses: {} } }
  }
  return { openapi: '3.1.0', info: { title: 'Cases', version: '1' }, servers: [{ url: server }], paths: { ...paths } }
}
