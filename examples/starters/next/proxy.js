import { NextResponse } from 'next/server'

/** Gives each visitor a random name in a cookie, with the first page. */
export function proxy(request) {
  const response = NextResponse.next()
  if (!request.cookies.has('visitor')) response.cookies.set('visitor', crypto.randomUUID(), { httpOnly: true, sameSite: 'lax' })
  return response
}

export const config = { matcher: '/' }
