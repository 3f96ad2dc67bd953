½etc5
1é "<YZ本
Z 日 
'a
5>s	",٣
.
[ e.g]É1 &amp;7
&€3.14ª日e - mail ""
[&quot;e - mail?
İ€' @-@ "
".
':...٣sNr9's	 '1,000
"7Z@"&quot;Nr
&quot;.p.m3.14"$&amp;·Nr..c
,5sa'.
½½€a
 #"本 #&apos;
3.14ß':a) 
'b...[/$a-٣ª
 '1,000"Noetcwww.x.yn't5"
 5s a'5's,
5 á:ª1éMrX
Mrß:e.g
😀é".,...
ss.5,5-.
;Σc&İé-1,000 X'sİ
Z&quot;/Σé (' 'll>ª 
>]!Dr'|
 @-@ XX#"/
"..@-@..éa> '"
'NoMra
..p.mausw.·EU: n&amp;d'|'
-5 s 5,
X:
,s-,,aa5, " a
"!'s 
' n't ' "usw
 ,,as,a,,
@-@.	 3.14Σİ	'
EU: n 
s'll1""
7 - Mr"😀"|1,000#""ª
'.'s, 5 s
!日9<Nr'EU: n.e - mail:&amp;
-%"1,000>1
;Nr>;&apos;本"²
 ' Z@-@
 " - &apos;c·
",7,EU: n' a/@
[@d " 日www.x.y/²:ª"€
# 
etc9@
5.5'5.5sa- 
,a'5,
|.Dr
&","www.x.y) @..c%Ybc
]n't&quot;?www.x.y usw@-@'ll
. " -', 
,
n't%本; aNrß"Nr$
,s"[;@"a/é, 
.
a,ß
"etc|?"
/Z
s½c " Dr'aİ
 -s
Nop.m-s&amp;"Dr日 @-@ &quot;""
a'5aa,-5 saa'
"
 @-@ 'sZd'7&quot;%9/!&'
@-@9&apos;$s|9
%etcl'1,000'No
'
www.x.y11,000<www.x.y
Σ$"""'ll. |.a"
9""@·&&9
l'İ/
.5-
½X;a...3.14"²
٣..ß
,a d " ½.|&amp;bn't,%É
9é日d'#5
usw
?@本
'llÉEU: n日
 '5a s,.sa,,s
'%n'tn'tetc
!"	Nr½. (p.m;9
€ >",'s"日" ]?Z
Z !É/́|cl'
 ' .-as
'3.14"İDr<
·²p.m"
c'Y日&apos;
&quot;&amp;a9Nod'1,000www.x.y? >::
 @-@&quot;p.m's"a e - mailsa
Y " %
&quot;'s,19'İ
 .'a
"# p.m?
 ?XⅧ
 c]@-@p.m
Nr日É'
'&amp;٣é3.14½|a,n't"7
.'ll]'
's, No€
&amp;p.m -
'
-٣5&apos; [½"&amp; 
 (,
İl'"Y.Nr@-@ßÉ, - 
a
٣.	's&ß
.本Z5&apos;"|É "] én't
 
'll²sßY"7%]l'
'é@,Mrs/l'&amp;1,000
'a@-@d'​
5a'5ss . s,
a.,
 3.14	an't|
?Ⅷ7
e - mail'll;etc 9/
1p.m@-@www.x.y
٣"No
5...
%n't/| - ?
:$]
%?"İ'etc1
 
'"És,'.5]​]9É
"😀/
a ..<Y'-s&%
etc&b Ⅷwww.x.yÉ[No.9&
 '7Ⅷ1½usw 
Zetc;½&quot;@Ⅷ$Nr
.
p.mp.mc	|No
ausw;etc
²
,,aa, 5-
-..$
7 ·
| " s' 5😀e.g·Z&amp;No
>Dr|
'a 
 -5
]s	d'www.x.yYNr .·​"
e - mail.etc٣.?日·uswÉ
