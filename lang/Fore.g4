// SPDX-License-Identifier: Apache-2.0
//
// The grammar of `.fore` files. No actions: what a section or a key means is
// the binder's business, so a new key never touches this file.
//
// Blanks, line ends and comments only separate. No separator stands between
// entries; two facts keep that unambiguous:
//   * a word that touches a number is its unit (`4Ki`, `245us`);
//   * a unit word after a number and a blank is its unit unless `=` follows,
//     so in `a = 4 s = 5` the `s` is a key and in `a = 4 s b = 5` a unit.
grammar Fore;

file : item* EOF ;

// The value of `-D name=...`.
expression : expr EOF ;

// The values of `--sweep key=...`.
givenElements : elements EOF ;

item
  : import_
  | param
  | let
  | require
  | section
  | layer
  | dim
  ;

import_ : IMPORT STRING (AS name)? ;

param : PARAM name (IN '{' expr (',' expr)* ','? '}')? ('=' expr)? ;

section : ID label? (':' name)? block ;

// Names of backends have hyphens: `emit astra-sim { ... }`.
label : name ('-' name)* ;

block : '{' entry* '}' ;

entry
  : assignment
  | section
  | let
  | require
  | if_
  | axis
  | clause
  ;

assignment : word '=' expr ;

if_ : IF expr block (ELSE block)? ;

let : LET name '=' expr ;

require : REQUIRE expr (',' STRING)? ;

// A kind of layer: its computation, op by op.
layer
  : LAYER name '(' inputs=names? ')' ('->' outputs=names)? (AS roles=names)? STRING? body
  ;

// A dimension of tensors, and the axes that split it.
dim : DIM name (OVER axes=names)? ;

names : name (',' name)* ;

body : '{' statement* '}' ;

statement
  : KEY keyName (',' keyName)*
  | let
  | demand
  | (PARAM | INPUT) tensor (TIED | SHARED)?
  | FROM key STRING
  | PART STRING
  | SHARED name body
  | MODULE name (UNTIL key)? body
  | IF expr body (ELSE body)?
  | tensor (',' tensor)* '=' (OP? invocation (AS key)? | key)
  | invocation (AS key)?
  ;

// `heads in 1..`, `norm in {layernorm, rmsnorm} = rmsnorm`; one with `==` has no
// other value.
keyName : name keyValues? (op=('=' | '==') expr)? STRING? ;

keyValues : IN (NUMBER RANGE | '{' word (',' word)* '}') ;

// The message is text, or that of the slug with its arguments; then keys after `at` are
// to blame for it.
demand
  : REQUIRE expr (',' message=STRING)?
  | REQUIRE expr ELSE slug=STRING ('(' expr (',' expr)* ')')?
    (AT key (',' key)* source=STRING?)?
  ;

// `tokens i64 [seq, batch]`, `mask bool like x`; or a name alone.
tensor : key (key? ('[' expr (',' expr)* ']' | LIKE key))? ;

invocation : name '(' (argument (',' argument)*)? ')' ;

argument : (name '=')? expr ;

// An axis of a `sweep` section. Keys in one axis change together: its elements
// are lists.
axis : key (',' key)* IN '{' elements '}' ;

elements : element (',' element)* ','? ;

key : name ('.' word)* ;

element : expr (RANGE expr)? ;

clause : op=(WHERE | MINIMIZE | MAXIMIZE | KEEP) expr ;

// Tightest first.
expr
  : NUMBER unit?                                            # number
  | QUANTITY                                                # quantity
  | STRING                                                  # string
  | TRUE                                                    # true
  | FALSE                                                   # false
  | name '(' expr (',' expr)* ','? ')'                      # call
  | name ('.' word)*                                        # path
  | '[' (expr (',' expr)* ','?)? ']'                        # list
  | '(' expr ')'                                            # parens
  | '-' expr                                                # negate
  | expr op=('*' | '/' | '%') expr                          # binary
  | expr op=('+' | '-') expr                                # binary
  | expr op=('==' | '!=' | '<' | '<=' | '>' | '>=') expr    # binary
  | NOT expr                                                # not
  | expr op=AND expr                                        # binary
  | expr op=OR expr                                         # binary
  | IF expr THEN expr ELSE expr                             # conditional
  ;

unit : UNIT | RATE ;

// Unit words and those of `sweep` and of layers may name things, too.
name
  : ID | UNIT | WHERE | MINIMIZE | MAXIMIZE | KEEP | LAYER | KEY | INPUT | TIED | FROM
  | OP | LIKE | AT | DIM | OVER | SHARED | PART | MODULE | UNTIL
  ;

// A key may be any word, reserved or not.
word
  : ID | UNIT | IMPORT | AS | PARAM | IN | LET | REQUIRE | IF | THEN | ELSE
  | AND | OR | NOT | TRUE | FALSE | WHERE | MINIMIZE | MAXIMIZE | KEEP | LAYER | KEY
  | INPUT | TIED | FROM | OP | LIKE | AT | DIM | OVER | SHARED | PART | MODULE | UNTIL
  ;

IMPORT : 'import' ;
AS : 'as' ;
PARAM : 'param' ;
IN : 'in' ;
LET : 'let' ;
REQUIRE : 'require' ;
IF : 'if' ;
THEN : 'then' ;
ELSE : 'else' ;
AND : 'and' ;
OR : 'or' ;
NOT : 'not' ;
TRUE : 'true' ;
FALSE : 'false' ;
WHERE : 'where' ;
MINIMIZE : 'minimize' ;
MAXIMIZE : 'maximize' ;
KEEP : 'keep' ;
LAYER : 'layer' ;
KEY : 'key' ;
INPUT : 'input' ;
TIED : 'tied' ;
SHARED : 'shared' ;
FROM : 'from' ;
OP : 'op' ;
LIKE : 'like' ;
AT : 'at' ;
DIM : 'dim' ;
OVER : 'over' ;
PART : 'part' ;
MODULE : 'module' ;
UNTIL : 'until' ;

LBRACE : '{' ;
RBRACE : '}' ;
LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
ARROW : '->' ;
COMMA : ',' ;
COLON : ':' ;
ASSIGN : '=' ;
DOT : '.' ;
RANGE : '..' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;
PERCENT : '%' ;
EQ : '==' ;
NE : '!=' ;
LT : '<' ;
LE : '<=' ;
GT : '>' ;
GE : '>=' ;

// The words of frontend/Units.def.
UNIT
  : [KMGT] 'i'?
  | ([KMGT] 'i'?)? 'B'
  | [num]? 's'
  ;
RATE
  : ([KMGT]? 'bit' | ([KMGT] 'i'?)? 'B' | [KMGTP]? 'FLOP') '/s'
  ;

NUMBER : Digits ('.' Digits)? ([eE] [+\-]? [0-9]+)? ;
QUANTITY : NUMBER (RATE | ID) ;
ID : [A-Za-z_] [A-Za-z0-9_]* ;
STRING : OPEN_STRING '"' ;
OPEN_STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* ;

BLANKS : [ \t\r\n]+ -> skip ;
COMMENT : '//' ~[\r\n]* -> skip ;
// Comments of other languages; reported where they are written.
FOREIGN_COMMENT : '#' ~[\r\n]* | '/*' .*? ('*/' | EOF) ;
FOREIGN_POWER : '**' | '^' ;
FOREIGN_STRING : '\'' ~['\r\n]* '\'' ;
BAD_CHARACTER : '\u007F'+ | . ;

fragment Digits : [0-9] [0-9_]* ;
