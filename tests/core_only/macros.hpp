// Names that headers of systems define as macros.
#pragma once

#define near
#define far
#define small char
#define interface struct
#define check(assertion) does_not_compile
#define verify(assertion) does_not_compile
#define require(assertion, label) does_not_compile
#define major(device) does_not_compile
#define minor(device) does_not_compile
#define ERROR 0
#define IN
#define OUT
#define TRUE 1
#define DELETE 2
#define NO_ERROR 0
#define I 0
#define DEBUG 1
#define Status int
#define None 0L
#define Bool int
#define unix 1
#define linux 1
