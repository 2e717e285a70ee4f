/** `line`, or what it is where it is a web page: servers on the way to a service answer with one, and nobody reads its text in an error. */
export function namedPage(line: string): string {
  if (!/^(?:<!--.{0,200}?--> ?)?<(?:!doctype html|html|head|body)\b/i.test(line)) return line
  const title = /<title[^>]{0,100}>([^<]{0,100})/i.exec(line)?.[1]?.trim() ?? ''
  return title === '' ? 'a web page, which is not of the API' : `a web page called "${title}", which is not of the API`
}
